"""Ways to write an order down, each turned into labels and edges (lo, hi) between them."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import combinations, pairwise, product
from typing import Any

from hullrank.exceptions import LabelError, few

Labels = list[Hashable]
LabelEdges = list[tuple[Hashable, Hashable]]


def check_labels(labels: Iterable[Hashable]) -> Labels:
    """Labels as plain Python values: at least one, hashable, none missing, none twice."""
    plain = [plain_label(label) for label in labels]
    if not plain:
        raise LabelError("an order needs at least one label; pass the classes from lowest to highest")
    if len(set(plain)) < len(plain):
        twice = Counter(plain).most_common(1)[0][0]
        raise LabelError(f"the order names {twice!r} twice; name every class once")
    return plain


def plain_label(label: Any) -> Hashable:
    """A NumPy scalar as its Python value; anything hashable as it is."""
    label = label.item() if hasattr(label, "dtype") and hasattr(label, "item") else label
    try:
        hash(label)
    except TypeError as error:
        raise LabelError(
            f"{label!r} cannot be a label of an order: it is not hashable; use a string or a number"
        ) from error
    if label is None or label != label:
        raise LabelError(f"{label!r} cannot be a label of an order; drop the samples without a label")
    return label


def edge_list(edges: Iterable[Any], labels: Iterable[Hashable] | None) -> tuple[Labels, LabelEdges]:
    """Edges checked to be pairs of (known) labels; labels in order of appearance unless given."""
    pairs: LabelEdges = []
    for edge in edges:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise LabelError(f"{edge!r} is not an edge; an edge is a pair (lo, hi) of labels, hi above lo")
        lo, hi = edge
        pairs.append((plain_label(lo), plain_label(hi)))
    named = dict.fromkeys(label for pair in pairs for label in pair)
    if labels is None:
        return check_labels(named), pairs
    given = check_labels(labels)
    unknown = named.keys() - set(given)
    if unknown:
        raise LabelError(f"edges name labels that are not in labels: {few(unknown)}; add them or remove the edges")
    return given, pairs


def level_edges(levels: Iterable[Iterable[Hashable]]) -> tuple[Labels, LabelEdges]:
    """Everything in a later level above everything in an earlier one."""
    groups = _check_levels(levels)
    labels = check_labels(label for group in groups for label in group)
    return labels, [pair for lower, upper in combinations(groups, 2) for pair in product(lower, upper)]


def text_edges(text: str) -> tuple[Labels, LabelEdges]:
    """Labels and edges of ``"a < b, c < d; x > b"``: see ``OrderGraph.parse``."""
    labels: dict[Hashable, None] = {}
    edges: LabelEdges = []
    for clause in _clauses(text):
        groups = _groups(clause)
        labels.update(dict.fromkeys(label for group in groups for label in group))
        edges += [pair for lower, upper in pairwise(groups) for pair in product(lower, upper)]
    if not labels:
        raise LabelError("the text of the order is empty; write it like 'mild < moderate < severe'")
    return list(labels), edges


def quoted(label: Any) -> str:
    """A label as ``OrderGraph.parse`` reads it back: in quotes if it holds signs of an order, or blanks at its ends."""
    text = str(label)
    plain = text and text == text.strip() and not re.search(r"[<>,;\n]|^[\"']", text)
    return text if plain else '"' + text.replace('"', '""') + '"'


_TOKEN = re.compile(
    r"""[ \t\r]*(?:(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*')(?=\s*(?:[<>,;\n]|$))"""
    r"""|(?P<sign>[<>]=?|[,;\n])|(?P<plain>[^<>,;\n]+))"""
)


def _clauses(text: str) -> list[list[tuple[str, bool]]]:
    """The parts between semicolons or line ends, each as tokens: a label (False) or one of < > , (True)."""
    clauses: list[list[tuple[str, bool]]] = [[]]
    for token in _TOKEN.finditer(text):
        if token["quoted"]:
            mark = token["quoted"][0]
            clauses[-1].append((token["quoted"][1:-1].replace(mark * 2, mark), False))
        elif token["plain"]:
            clauses[-1] += [(token["plain"].strip(), False)] if token["plain"].strip() else []
        elif token["sign"] in ";\n":
            clauses.append([])
        else:
            clauses[-1].append((token["sign"], True))
    return [clause for clause in clauses if clause]


def _groups(clause: list[tuple[str, bool]]) -> list[list[str]]:
    """The levels of one part of an order, lowest first."""
    said = " ".join(text for text, _ in clause)
    signs = {text for text, is_sign in clause if is_sign and text != ","}
    if odd := signs - {"<", ">"}:
        raise LabelError(
            f"the order {said!r} has {odd.pop()!r}; use < alone, grades at one level are separated by commas"
        )
    if len(signs) > 1:
        raise LabelError(f"the order {said!r} mixes < and >; separate its parts by a semicolon")
    groups: list[list[str]] = [[]]
    expecting = True
    for text, is_sign in clause:
        if is_sign == expecting:
            raise LabelError(f"the order {said!r} has an empty label; write it like 'mild < moderate < severe'")
        expecting = is_sign
        if not is_sign:
            groups[-1].append(text)
        elif text != ",":
            groups.append([])
    if expecting:
        raise LabelError(f"the order {said!r} has an empty label; write it like 'mild < moderate < severe'")
    return groups[::-1] if ">" in signs else groups


def _check_levels(levels: Iterable[Iterable[Hashable]]) -> list[list[Hashable]]:
    groups = []
    for level in levels:
        if isinstance(level, str | bytes) or not hasattr(level, "__iter__"):
            raise LabelError(f"{level!r} is not a level; a level is a list of labels, as in [['a', 'b'], ['c']]")
        groups.append([plain_label(label) for label in level])
    if not all(groups):
        raise LabelError("a level of the order is empty; remove it")
    return groups
