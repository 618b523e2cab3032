"""Figures of ranked lists for ``hullrank evaluate``: NDCG and precision at some places, MAP and MRR."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hullrank.cli.console import note
from hullrank.cli.data import coded
from hullrank.cli.model import Model
from hullrank.cli.wording import listed
from hullrank.exceptions import HullrankError
from hullrank.io.meant import did_you_mean

USUAL_PLACES = "5,10"
MOST_GRADES = 50  # beyond, the target is a number rather than a grade


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
    order = getattr(model.step, "order_", None)
    if order is not None and not order.is_total:
        note("no NDCG, MAP and MRR: the order of the grades is partial, so they are no numbers")
        return {}
    names = _ranked_names(model)
    gains = _gains(y, model.step, names)
    each: dict[str, Any] = {"qid": qid, "sample_weight": weights}
    measures = {}
    if gains.min() < 0:
        note("no NDCG: it needs targets of at least 0")
    else:
        for k in lists.places:
            measures[f"NDCG@{k}"] = ndcg_score(gains, scores, k=k, gain=lists.gain, **each)  # type: ignore[arg-type]
    if lists.relevant is None and names is None and not _are_grades(gains):
        note("no P, MAP and MRR: the targets are numbers and no grades; say which are relevant by --relevant NUMBER")
        return measures
    least = _least_relevant(model, gains, names, lists.relevant)
    note(f"relevant for P, MAP and MRR: {f'{least:g}' if names is None else names[int(least)]} and above")
    each["relevant_above"] = np.nextafter(least, -np.inf)
    for k in lists.places:
        measures[f"P@{k}"] = precision_at_k(gains, scores, k, **each)
    measures["MAP"] = mean_average_precision(gains, scores, **each)
    measures["MRR"] = mean_reciprocal_rank(gains, scores, **each)
    return measures


def _ranked_names(model: Model) -> list[str] | None:
    """The names of the grades from the lowest; None if they are numbers that rank by their value."""
    classes = model.classes
    if classes is None or (all(isinstance(c, int | float) for c in classes) and classes == sorted(classes)):
        return None
    return list(map(str, classes))


def _gains(y: Any, step: Any, names: list[str] | None) -> Any:
    """The grades as numbers: their own, or their places from the lowest (0)."""
    values = np.asarray(y)
    if names is None or not hasattr(step, "classes_"):  # without classes the model itself was fitted on places
        return values.astype(np.float64)
    return coded(values, step.classes_.tolist()).astype(np.float64)


def _are_grades(gains: Any) -> bool:
    """Whether all but the lowest number may be taken as relevant: a few numbers, none of them negative."""
    return bool(gains.min() >= 0) and len(np.unique(gains)) <= MOST_GRADES


def _least_relevant(model: Model, gains: Any, names: list[str] | None, relevant: str | None) -> float:
    """The number of the lowest relevant grade: the given one, or the lowest but one."""
    if names is not None:
        if relevant is not None and relevant not in names:
            hint = did_you_mean(relevant, names) or f"; they are {listed(names)}"
            raise HullrankError(f"--relevant {relevant!r} is no grade{hint}")
        return 1.0 if relevant is None else float(names.index(relevant))
    if relevant is None:
        known = np.unique(gains if model.classes is None else np.append(gains, model.classes))
        return float(known[min(1, len(known) - 1)])
    try:
        return float(relevant)
    except ValueError as error:
        raise HullrankError(f"--relevant {relevant!r} is no number, as the targets are") from error
