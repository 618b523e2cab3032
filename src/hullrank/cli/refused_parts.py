"""What cannot be fitted to a table that is read in parts: each with its reason and what to do instead."""

from typing import Any

from hullrank.cli.data import Columns
from hullrank.cli.methods import METHODS, known_methods, takes_blocks
from hullrank.exceptions import HullrankError

_FEWER = "give more --memory, or fit it to some of the files"
# By estimator: why its fit needs all rows at once, and what does not.
_REASONS = {
    "SampledPairsRanker": "draws a row's partners from the whole table; --method swapped-pairs takes all pairs instead",
    "ExactRanker": f"searches all rows again and again, which is for small tables; {_FEWER}",
    "PRank": f"learns from one row after the other in random order; {_FEWER}, or use --method fixed-margin",
    "RankBoost": f"sorts all rows by every column; {_FEWER}, or use --method swapped-pairs",
}


def refuse_in_parts(method: str, settings: dict[str, Any], columns: Columns, options: dict[str, bool]) -> None:
    """Refuse what needs all rows at once, before any is read; ``options`` says which of them were given."""
    head = "the table is larger than --memory allows, and"
    if not takes_blocks(method):
        able = ", ".join(name for name in known_methods() if takes_blocks(name))
        why = _REASONS.get(METHODS[method].estimator, f"needs all rows at once; {_FEWER}")
        raise HullrankError(f"{head} method {method} {why} (fitted in parts are {able})")
    for name, usual, why in (
        ("kernel", "linear", "a kernel compares every row with every other"),
        ("approximation", None, "an approximated kernel chooses its samples among all rows"),
        ("norm", "rkhs", "this norm belongs to a kernel"),
        ("monotonic_cst", None, "required signs are met with all rows at hand"),
        ("pair_weight", None, "pairs are weighted by the places of all rows of a list"),
    ):
        if settings.get(name, usual) != usual:
            raise HullrankError(f"{head} {why}; leave out --set {name}=..., or {_FEWER}")
    if settings.get("C") == float("inf"):
        raise HullrankError(f"{head} a hard margin (C=inf) needs all rows at once; set a finite C, or {_FEWER}")
    if columns.groups is not None:
        raise HullrankError(
            f"{head} --groups need all rows in memory, because parts carry grades and weights only; leave it out, or "
            f"{_FEWER}"
        )
    cures = {
        "--probabilities": "leave it out",
        "--tune": "set C by --set C=...",
        "--order auto": "state the order that it finds on some of the files",
    }
    for option, given in options.items():
        if given:
            raise HullrankError(f"{head} {option} needs all rows in memory; {cures[option]}, or {_FEWER}")
