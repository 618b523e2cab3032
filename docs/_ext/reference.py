"""Public names that the reference page does not list yet get a page of their own, so that none is ever left out."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import hullrank

MODULES = ("hullrank", *(f"hullrank.{name}" for name in hullrank._SUBPACKAGES))


def unlisted(page: str) -> dict[str, list[str]]:
    """By module, the public names without a line of their own in the page; errors are listed as a whole."""
    found: dict[str, list[str]] = {}
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            plain = inspect.ismodule(value) or isinstance(value, str) or module == "hullrank.exceptions"
            if not plain and not re.search(rf"^   {name}$", page, re.MULTILINE):
                found.setdefault(module, []).append(name)
    return found


def _write(app: Any, config: Any) -> None:
    folder = Path(app.srcdir) / "api"
    lines = ["# More names", ""]
    for module, names in unlisted((folder / "index.md").read_text()).items():
        lines += [f"## {module}", "", "```{eval-rst}", f".. currentmodule:: {module}", "", ".. autosummary::"]
        lines += ["   :toctree: generated", "", *(f"   {name}" for name in names), "```", ""]
    if len(lines) == 2:
        lines.append("All public names are on [the first page](index.md).")
    (folder / "more.md").write_text("\n".join(lines) + "\n")


def setup(app: Any) -> dict[str, bool]:
    """Write the page before Sphinx looks for documents."""
    app.connect("config-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
