"""What the library says to Python programmers, in the words of the command; and what a mistyped name meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# Phrases of the library's messages, and what someone at a terminal can do instead.
TERMS: tuple[tuple[str, str], ...] = (
    (r"The '(\w+)' parameter of \w+ must be", r"parameter '\1' must be"),
    (r"\bInput X contains", "the table contains"),
    (r"Unknown label type: continuous\. A classifier needs discrete grades, and y contains ([^;]+);.*",
     r"this method needs grades, and the target contains \1; use --method swapped-pairs, or --order with all values"),
    (r"declare the order by classes=.*", "state the order by --order 'lowest < ... < highest'"),
    (r"declare their order by classes=\[\.\.\.\]", "state their order by --order 'lowest < ... < highest'"),
    (r"y has labels that are not in the declared order", "the target has grades that are not in the order"),
    (r"the declared order has classes without a sample \(of positive weight\)", "the order has grades without a row"),
    (r"add them to the order or drop the samples", "add them to --order or leave out the rows"),
    (r"\bpass one real weight per row", "give every row a number"),
    (r"\bsample_weight\b", "--weights"),
    (r"\bqid\b(?! column)", "--qid"),
    (r"use intervals='proper' or slack='edge', or a larger C",
     "use --set intervals=proper, --set slack=edge or a larger C"),
    (r"; use FixedMarginClassifier", "; use --method fixed-margin"),
    (r"use SwappedPairsRanker", "use --method swapped-pairs"),
    (r"(raise|lower) (max_iter|tol|time_limit|max_cells)( or (?:max_iter|tol|max_cells))?", r"\1 \2\3 (by --set)"),
    (r"the target y\b|\by\b(?= (?:contains|mixes|is|has|must))", "the target"),
)  # fmt: skip


def in_command_terms(text: str) -> str:
    """A message of the library with the options of the command in the place of Python."""
    for phrase, instead in TERMS:
        text = re.sub(phrase, instead, text)
    return text


def did_you_mean(word: Any, known: Iterable[Any]) -> str:
    """``; did you mean 'x'?`` for the most similar of the known names, whatever their case; else nothing."""
    names = list(dict.fromkeys(map(str, known)))
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.strip().casefold(), name)
    close = get_close_matches(str(word).strip().casefold(), list(folded), n=1, cutoff=0.6)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def listed(names: Iterable[Any], most: int = 8) -> str:
    """The first names, and how many more there are."""
    shown = list(map(str, names))
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
