"""What the library says to Python programmers, in the words of the command."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from hullrank.io.meant import did_you_mean


def _from_one(found: re.Match[str]) -> str:
    """Row numbers of arrays, which count from 0, as the numbers of rows in the file."""
    return re.sub(r"\brow (\d+)", lambda row: f"row {int(row[1]) + 1}", found[0])


def _range(found: re.Match[str]) -> str:
    """An interval such as [0, 1) in words."""
    low, high = (None if "inf" in end else f"{float(end):g}" for end in found.group(3, 4))
    ends = [low and f"{'from' if found[2] == '[' else 'above'} {low}"]
    ends.append(high and f"{'at most' if found[5] == ']' else 'below'} {high}")
    return " ".join(["a number" if found[1] == "float" else "a whole number", " and ".join(filter(None, ends))]).strip()


def _choice(found: re.Match[str]) -> str:
    """Words to choose from."""
    words = ", ".join(sorted(found[1].split(", ")))
    return f"one of {words}" if "," in words else words


def _refused_value(found: re.Match[str]) -> str:
    """What scikit-learn says about a parameter, for someone who wrote ``--set name=value``."""
    name, may_be, value = found.groups()
    may_be = re.sub(r"(?:,| or) (?:a callable|None)\b", "", may_be)
    may_be = re.sub(r"\ba str among \{([^}]*)\}", _choice, may_be)
    may_be = re.sub(r"\ban? (float|int) in the range ([\[(])([^,\s]+), ([^\])]+)([\])])", _range, may_be)
    may_be = re.sub(r"an instance of 'bool'(?:(?:,| or) an instance of '[\w.]*bool_?')*", "true or false", may_be)
    may_be = may_be.replace("an instance of 'dict'", 'something like {"good": 2}')
    hint = did_you_mean(value.strip("'"), re.findall(r"'([^']*)'", may_be)) if value.startswith("'") else ""
    return f"parameter {name!r} must be {may_be}, and not {value}{hint}"


# Phrases of the library's messages, and what someone at a terminal can do instead.
TERMS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"The '(\w+)' parameter of \w+ must be (.*)\. Got (.*) instead\.?", _refused_value),
    (r"Unknown label type: continuous\. A classifier needs discrete grades, and y contains ([^;]+);.*",
     r"this method needs grades, and the target contains \1; use --method swapped-pairs, or --order with all values"),
    (r"declare the(?:ir)? order by classes=.*", "state the order by --order 'lowest < ... < highest'"),
    (r"y has labels that are not in the declared order", "the target has grades that are not in the order"),
    (r"the declared order has classes without a sample \(of positive weight\): (.*); remove them from the order",
     r"no row (of positive weight) has the grade \1; remove it from --order"),
    (r"add them to the order or drop the samples", "add them to --order or leave out the rows"),
    (r"\bsample_weight is zero everywhere, so no sample is left", "the weights are zero everywhere"),
    (r"use intervals='proper' or slack='edge'", "use --set intervals=proper or --set slack=edge"),
    (r"\bor FixedMarginClassifier", "or --method fixed-margin"),
    (r"\b(class_weight|loss|C)='(balanced|squared_hinge|scale)'", r"--set \1=\2"),
    (r"\b(?:nu|C)='auto' with a fraction", "--set fraction=... from 0 to 1"),
    (r"use SwappedPairsRanker", "use --method swapped-pairs"),
    (r"for instance row \d+ \(class .*? cannot be placed below row \d+", _from_one),
    (r"\((decimal|dates)='(.*?)' if not\)", r"(--\1 \2 if not)"),
    (r"\(words=\[(.*?)\] if", r"(--words \1 if"),
    (r"\b(?:y|the target y)\b(?= (?:contains|mixes|is|has|must)|$)", "the target"),
)  # fmt: skip


def in_command_terms(text: str) -> str:
    """A message of the library with the options of the command in the place of Python."""
    for phrase, instead in TERMS:
        text = re.sub(phrase, instead, text)
    return text


def listed(names: Iterable[Any], most: int = 12) -> str:
    """The first names, and how many more there are if that is more than one."""
    shown = list(map(str, names))
    if len(shown) <= most + 1:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def counted(number: int, things: str) -> str:
    """A number of things, as in ``1 row`` and ``1,000 rows``."""
    return f"{number:,} {things.removesuffix('s') if number == 1 else things}"
