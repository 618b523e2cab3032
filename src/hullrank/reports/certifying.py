"""Whether the certificate of a fitted model holds: nothing that the model claims is taken on trust."""

from dataclasses import dataclass, replace
from typing import Any

from hullrank.exact.direction import predicted
from hullrank.exact.portfolio import solve_exact
from hullrank.exact.statement import Statement
from hullrank.exceptions import HullrankError, LabelError
from hullrank.problem.certificate import relative_gap
from hullrank.problem.statement import Grade, Point
from hullrank.problem.statistics import RankStatistic
from hullrank.reports.objective import recomputed_objective
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

_SAME = 1e-6  # share of the claimed objective by which that of the same model on the same data may differ
_FINER = 0.1  # share of the caller's tolerance to which the lower bound is computed


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
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    qid: Any = None,
    groups: Any = None,
    pairs: Any = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
) -> Verdict:
    """Recompute the objective of ``model`` on its training data, and bound it by a solve that starts from the model.

    Any estimator with the methods ``state`` and ``candidate`` can be certified; one whose stated problem has other rows
    than X also has ``stated_scores(X)``, their scores. ``tol`` is the relative gap that must
    hold, whatever the model was fitted to; ``groups`` and ``pairs`` are those that ``fit`` was given; ``time_limit``
    (exact models: seconds for the proof) defaults to that of the model.
    """
    if not (hasattr(model, "state") and hasattr(model, "candidate")):
        raise HullrankError(f"{type(model).__name__} carries no certificate: it is a baseline that proves nothing")
    given = {"sample_weight": sample_weight, "qid": qid, "groups": groups, "pairs": pairs}
    try:
        statement = model.state(X, y, **{name: value for name, value in given.items() if value is not None})
    except LabelError as error:
        raise LabelError(f"these are not the rows that the model was fitted to: {error}") from error
    if statement.family == "exact":
        return _certify_exact(model, statement, time_limit or model.time_limit)
    point, claimed = model.candidate(statement), model.certificate_
    scores = model.stated_scores(X) if hasattr(model, "stated_scores") else model.score_samples(X)
    objective = recomputed_objective(statement, point, scores)
    grade = _bounded(statement, point, objective, tol)
    gap = relative_gap(objective, grade.dual, grade.floor)
    facts = {
        "objective in the file": claimed.primal,
        "objective recomputed": objective,
        "lower bound in the file": claimed.dual,
        "lower bound recomputed": grade.dual,
        "relative gap in the file": relative_gap(claimed.primal, claimed.dual, grade.floor),
        "relative gap recomputed": gap,
    }
    if not abs(relative_gap(objective, claimed.primal, grade.floor)) <= max(_SAME, _FINER * tol):
        return Verdict(facts, "the objective is not the one in the file; the data or the model differ from the fit")
    if grade.span_dual is not None:
        facts["relative gap within the span"] = grade.span_gap
        return Verdict(facts, _reason(0.0, grade.span_gap, tol))
    return Verdict(facts, _reason(facts["relative gap in the file"], gap, tol))


def _bounded(statement: Any, point: Point, objective: float, tol: float) -> Grade:
    """The objective of a point beside the lower bound nearest to it; one above it is as wrong as it lies above.

    Where digits are few the model may be a bad start, and a solve that asks for more may get less: so there are three.
    """
    grades: list[Grade] = []

    def apart(grade: Grade) -> float:
        return abs(relative_gap(objective, grade.dual, grade.floor))

    for start, accuracy in ((point, tol * _FINER), (None, tol), (point, tol)):
        solution = solve(statement, Options(accuracy), start=start)
        grades.append(statement.grade(solution.point, solution.evidence, solution.scores))
        if apart(grades[-1]) <= tol:
            break
    return replace(min(grades, key=apart), primal=objective)


def _reason(claimed: float, found: float, tol: float) -> str:
    """Why gaps are not good enough, or ""."""
    if found < -(1 + _FINER) * tol:
        return f"the lower bound lies above the objective, by {-found:.2g} of it: rounding leaves no proof"
    if not found <= (1 + _FINER) * tol:
        return f"the lower bound leaves a relative gap of {found:.2g}, more than the {tol:g} that was asked for"
    if not -tol <= claimed <= tol:
        return (
            f"the file claims a relative gap of {claimed:.2g}, which is not within the {tol:g} that was asked for; "
            "ask for less by tol (--tol), or fit to a smaller tol"
        )
    return ""


def _certify_exact(model: Any, statement: Statement, time_limit: float | None) -> Verdict:
    """Count the pairs that the weights win, and search for a better direction until the claimed bound is proven."""
    claimed, w = model.certificate_, model.candidate(statement).coef
    value = float(predicted(statement, w) / statement.total)
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
        starts=lambda: [w],
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
            f"the value is right, but the upper bound in the file was not proven again within {time_limit} s; give the "
            "search more time by --time-limit",
        )
    return Verdict(facts)
