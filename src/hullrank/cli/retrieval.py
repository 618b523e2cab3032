"""Figures of ranked lists for ``hullrank evaluate``: NDCG and precision at some places, MAP and MRR."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hullrank.cli.console import note
from hullrank.cli.model import Model
from hullrank.cli.wording import did_you_mean, listed
from hullrank.exceptions import HullrankError

USUAL_PLACES = "5,10"


@dataclass(frozen=True)
class Lists:
    """What counts in a list: the places to look at, the lowest relevant grade, and the gain of a grade."""

    at: str | None = None
    relevant: str | None = None
    gain: str = "linear"

    @property
    def places(self) -> list[int]:
        """The places as numbers."""
        texts = (self.at or USUAL_PLACES).split(",")
        if not all(text.strip().isdecimal() and int(text) > 0 for text in texts):
            raise HullrankError(f"--at {self.at!r} is no list of places; write it like --at 1,5,10")
        return sorted({int(text) for text in texts})

    @property
    def asked_for(self) -> bool:
        """Whether the user wants these figures, with queries or without."""
        return self.at is not None or self.relevant is not None


def list_measures(model: Model, y: Any, scores: Any, qid: Any, weights: Any, lists: Lists) -> dict[str, float]:
    """The figures by name, means over queries; empty where grades are in no line."""
    from hullrank.metrics import mean_average_precision, mean_reciprocal_rank, ndcg_score, precision_at_k

    if lists.gain not in ("linear", "exponential"):
        raise HullrankError(f"--gain {lists.gain!r} is unknown; use linear or exponential")
    gains = _gains(model, y)
    if gains is None:
        note("no NDCG, MAP and MRR: the order of the grades is partial, so they are no numbers")
        return {}
    each: dict[str, Any] = {"qid": qid, "sample_weight": weights}
    measures = {}
    if gains.min() < 0:
        note("no NDCG: it needs targets of at least 0")
    else:
        for k in lists.places:
            measures[f"NDCG@{k}"] = ndcg_score(gains, scores, k=k, gain=lists.gain, **each)  # type: ignore[arg-type]
    above = _relevant_above(model, gains, lists.relevant)
    for k in lists.places:
        measures[f"P@{k}"] = precision_at_k(gains, scores, k, relevant_above=above, **each)
    measures["MAP"] = mean_average_precision(gains, scores, relevant_above=above, **each)
    measures["MRR"] = mean_reciprocal_rank(gains, scores, relevant_above=above, **each)
    return measures


def _gains(model: Model, y: Any) -> Any | None:
    """The grades as numbers: their own, or their places from the lowest (0); None in a partial order."""
    values = np.asarray(y)
    order = getattr(model.step, "order_", None)
    if order is not None and not order.is_total:
        return None
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    place = {label: float(code) for code, label in enumerate(model.step.classes_.tolist())}
    return np.array([place[label] for label in values.tolist()])


def _relevant_above(model: Model, gains: Any, relevant: str | None) -> float:
    """Rows are relevant if their number is above this: the lowest grade, or what lies just below ``relevant``."""
    names = model.classes
    words = names is not None and (model.about.get("grades") is not None or not _are_numbers(names))
    numbers = np.arange(len(names)) if words else np.unique(gains)  # type: ignore[arg-type]
    if relevant is None:
        return float(numbers[0] if words or names is None else min(float(names[0]), float(numbers[0])))
    if words:
        shown = list(map(str, names or ()))
        if relevant not in shown:
            raise HullrankError(
                f"--relevant {relevant!r} is no grade{did_you_mean(relevant, shown) or '; they are ' + listed(shown)}"
            )
        return shown.index(relevant) - 0.5
    try:
        return float(np.nextafter(float(relevant), -np.inf))
    except ValueError as error:
        raise HullrankError(f"--relevant {relevant!r} is no number, as the targets are") from error


def _are_numbers(names: list[Any]) -> bool:
    return all(isinstance(name, int | float) for name in names)
