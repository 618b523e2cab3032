"""Whether the certificate of a fitted model holds: nothing that the model claims is taken on trust."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from hullrank.exact.portfolio import solve_exact
from hullrank.exact.relaxation import relax
from hullrank.exact.statement import join_rows
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import relative_gap
from hullrank.problem.statistics import RankStatistic
from hullrank.reports.lower_bound import LowerBound, bound_intervals, bound_pairs
from hullrank.reports.objective import recomputed_objective
from hullrank.reports.restated import restate_intervals, restate_pairs

_SAME = 1e-6  # of the claimed objective: more is another model, or other data


@dataclass(frozen=True)
class Verdict:
    """Claims beside what was found here; ``reason`` says why the certificate does not hold ("" if it does)."""

    facts: dict[str, Any]
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether the certificate holds."""
        return not self.reason


def certify(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None, time_limit: float | None = None
) -> Verdict:
    """Recompute the objective of ``model`` on its training data, and bound it by a solve that starts from the model.

    ``time_limit`` (exact models: seconds for the proof) defaults to that of the model.
    """
    if not hasattr(model, "certificate_"):
        raise HullrankError(f"{type(model).__name__} carries no certificate: it is a baseline that proves nothing")
    if hasattr(model.certificate_, "upper_bound"):
        return _certify_exact(model, X, y, sample_weight, qid, time_limit or model.time_limit)
    objective, claimed = recomputed_objective(model, X, y, sample_weight, qid), model.certificate_
    facts = {"objective in the file": claimed.primal, "objective recomputed": objective}
    noise = _SAME * max(abs(claimed.primal), abs(claimed.dual)) + 1e-300
    if not claimed.dual - noise <= objective <= claimed.primal + noise:
        return Verdict(facts, "the objective is not the one in the file; the data or the model differ from the fit")
    return _judge(model, facts, objective, _lower_bound(model, X, y, sample_weight, qid, objective))


def _lower_bound(model: Any, X: Any, y: Any, sample_weight: Any, qid: Any, objective: float) -> LowerBound:
    name = type(model).__name__
    if name == "LinearRelaxationRanker":
        rows = join_rows(*clone(model)._check(X, y, sample_weight, qid))
        return LowerBound(relax(rows, model.epsilon, start=model.coef_).dual)
    if name in ("SwappedPairsRanker", "SampledPairsRanker"):
        return bound_pairs(restate_pairs(model, X, y, sample_weight, qid))
    return bound_intervals(restate_intervals(model, X, y, sample_weight), objective)


def _judge(model: Any, facts: dict[str, Any], objective: float, bound: LowerBound) -> Verdict:
    claimed = model.certificate_
    gap = relative_gap(objective, bound.value, bound.floor)
    facts |= {
        "lower bound in the file": claimed.dual,
        "lower bound recomputed": bound.value,
        "relative gap in the file": claimed.relative_gap,
        "relative gap recomputed": gap,
        "bound for": bound.scope,
        "started from the model": bound.warm,
    }
    allowed = relative_gap(claimed.primal, claimed.dual, bound.floor)
    if not gap <= 10 * max(getattr(model, "tol", 1e-9), allowed):
        return Verdict(facts, "the lower bound leaves a larger gap than the file claims")
    return Verdict(facts)


def _certify_exact(model: Any, X: Any, y: Any, sample_weight: Any, qid: Any, time_limit: float) -> Verdict:
    """Count the pairs that the weights win, and search for a better direction until the claimed bound is proven."""
    claimed, twin = model.certificate_, clone(model)
    statement = twin._state(*twin._check(X, y, sample_weight, qid))
    value = float(statement.recount(model.coef_) / statement.total)
    facts = {
        "value in the file": claimed.value,
        "value recounted": value,
        "upper bound in the file": claimed.upper_bound,
    }
    slack = 1e-9 * max(1.0, abs(value))
    if abs(value - claimed.value) > slack:
        return Verdict(facts, "the value is not the one in the file; the data or the model differ from the fit")
    room = max(claimed.upper_bound - value, 0.0) * float(statement.total)
    search = solve_exact(
        statement,
        method="branch_and_bound" if model.method == "plane_search" else model.method,
        statistic=RankStatistic.of(model.statistic).name,
        starts=lambda: [np.asarray(model.coef_)],
        time_limit=time_limit,
        max_cells=None,
        gap_tol=room / max(abs(statement.arrangement.top), 1e-300),
        epsilon=model.epsilon,
        seed=0,
    )
    proven = search.certificate.upper_bound
    facts |= {"upper bound proven here": proven, "bound for": search.certificate.guarantee}
    if proven > claimed.upper_bound + slack:
        return Verdict(
            facts,
            f"the value is right, but the upper bound in the file was not proven again within {time_limit:g} s; give "
            "the search more time by --time-limit",
        )
    return Verdict(facts)
