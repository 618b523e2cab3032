"""What a mistyped name meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def nearest(word: Any, known: Iterable[Any]) -> str | None:
    """The most similar of the known names, whatever their case; None if none is."""
    folded: dict[str, str] = {}
    for name in map(str, known):
        folded.setdefault(name.strip().casefold(), name)
    close = get_close_matches(str(word).strip().casefold(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def did_you_mean(word: Any, known: Iterable[Any]) -> str:
    """``; did you mean 'x'?`` for the most similar of the known names; else nothing."""
    meant = nearest(word, known)
    return "" if meant is None else f"; did you mean {meant!r}?"
