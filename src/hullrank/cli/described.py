"""``hullrank methods``: what the methods are for, and their parameters, read from the source without importing it.

Importing an estimator loads scikit-learn and SciPy, which takes longer than anyone wants to wait for a list.
"""

import ast
import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hullrank
from hullrank.cli.console import out, print_json, say, table
from hullrank.cli.methods import METHODS, check_method, known_methods

# Parameters that the command sets itself, or that mean nothing to it.
_NOT_BY_SET = {"order": "by --order or --edges", "classes": "by --order"}
_MARKS = str.maketrans("", "", '"{}`')
# Types of Python, and what is written after --set name= for them.
_TYPES = {
    r"array-like of shape \(n_features,\) or dict": "1 or -1 for columns, by name",
    r"dict or balanced": "balanced, or weights by grade",
    r"array-like or RankStatistic": "or a list of weights",
    r", RandomState instance": "",
    r"\bbool\b": "true or false",
    r"\bint\b": "whole number",
    r"\bfloat\b": "number",
    r"\bNone\b": "null",
}
_IN_PYTHON = re.compile(r" or callable|; a callable takes[^.]*")


def run_methods(method: str | None, *, as_json: bool) -> None:
    """List the methods, or describe one with its parameters."""
    if method is None:
        _list(as_json)
        return
    check_method(method)
    row = METHODS[method]
    estimator, preset = row.estimator, dict(row.parameters)
    parameters = [p for p in parameters_of(estimator) if p["parameter"] not in preset]
    if as_json:
        facts = {"method": method, "for": row.purpose, "estimator": estimator, "with": preset}
        print_json({**facts, "parameters": parameters})
        return
    say(f"{method}: {row.purpose}", "bold")
    say(f"In Python {estimator}({', '.join(f'{name}={value!r}' for name, value in preset.items())})\n")
    rows = [
        (p["parameter"], p["default"], _NOT_BY_SET.get(p["parameter"], p["values"]), p["meaning"]) for p in parameters
    ]
    out.print(table("Parameters, as in --set C=0.1", ("name", "default", "values", "meaning"), rows, left=4))


def _list(as_json: bool) -> None:
    known = {name: METHODS[name] for name in known_methods()}
    if as_json:
        print_json([{"method": name, "for": row.purpose, "estimator": row.estimator} for name, row in known.items()])
        return
    rows = [(name, row.purpose, row.estimator) for name, row in known.items()]
    out.print(table("Methods", ("name", "for", "in Python"), rows, left=3))
    say("\n`hullrank methods NAME` shows the parameters of one")


def parameters_of(estimator: str) -> list[dict[str, Any]]:
    """Name, default, values and meaning of every parameter of a class, from its source."""
    tree = _class_tree(estimator)
    init = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    given = init.args.args[1:]
    defaults = [*[None] * (len(given) - len(init.args.defaults)), *init.args.defaults, *init.args.kw_defaults]
    told = _documented(ast.get_docstring(tree) or "")
    rows = []
    for name, default in zip((a.arg for a in (*given, *init.args.kwonlyargs)), defaults, strict=True):
        values, meaning = told.get(name, ("", ""))
        shown = "" if default is None else ast.unparse(default).strip("'")
        rows.append({"parameter": name, "default": shown, "values": values, "meaning": meaning})
    return rows


def _class_tree(estimator: str) -> ast.ClassDef:
    spec = find_spec(f"hullrank.{hullrank._HOME[estimator]}")
    assert spec is not None
    assert spec.origin is not None
    module = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return next(n for n in module.body if isinstance(n, ast.ClassDef) and n.name == estimator)


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Values and meaning of the parameters in a docstring, for people who do not write Python."""
    lines = inspect.cleandoc(text).partition("Parameters\n----------\n")[2].partition("\n\n")[0].splitlines()
    told: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in lines:
        if not line.startswith(" "):
            first, _, values = line.partition(" : ")
            names = first.split(", ")
            values = _in_plain_words(_IN_PYTHON.sub("", re.sub(r",? default=.*", "", values)).translate(_MARKS))
            told |= dict.fromkeys(names, (values, ""))
        else:
            values, meaning = told[names[0]]
            meaning = _IN_PYTHON.sub("", f"{meaning} {line.strip()}".strip()).replace("`", "")
            told |= dict.fromkeys(names, (values, meaning))
    return told


def _in_plain_words(values: str) -> str:
    for kind, words in _TYPES.items():
        values = re.sub(kind, words, values)
    return values
