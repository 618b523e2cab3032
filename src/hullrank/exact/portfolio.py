"""All exact methods behind one call: starts, a method, the settled direction, and its certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning
from hullrank.exact.direction import predicted, raw_weights, scaled_direction, widest_weights
from hullrank.exact.grade import Claim, grade
from hullrank.exact.methods import METHODS, Run, check_program
from hullrank.exact.restricted import few_features, first_weights, whole_numbers
from hullrank.exact.statement import Statement
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import Status
from hullrank.problem.exact_certificate import ExactCertificate
from hullrank.solvers.base import Solver, register

__all__ = ["METHODS", "ExactSolution", "solve_exact"]

Floats = NDArray[np.float64]

_SETTLING, _LATER = 1e-7, 0.3
"""Seconds per entry of the pairs that are kept for settling the answer, and the most of the time limit."""


@dataclass(frozen=True)
class ExactSolution:
    """Weights for the raw columns, what is claimed about the optimum, (seconds, value, bound) over time, the grade."""

    w: Floats
    claim: Claim
    trace: list[tuple[float, float, float]]
    certificate: ExactCertificate


def solve_exact(
    statement: Statement,
    *,
    method: str,
    statistic: str,
    starts: Callable[[], Sequence[Floats]],
    time_limit: float | None,
    max_cells: int | None,
    gap_tol: float,
    epsilon: float,
    seed: int,
    verbose: int = 0,
    begin: float | None = None,
) -> ExactSolution:
    """Maximise the statement; ``starts`` computes directions for the raw columns that the answer is never below.

    ``begin`` is the time (of ``time.perf_counter``) that the limit counts from, by default now.
    """
    restricted = _restriction(statement, method)
    if method == "mip":
        check_program(statement)
    settling = _SETTLING * len(statement.above) * statement.X.shape[1]
    limit = float("inf") if time_limit is None else time_limit - min(_LATER * time_limit, settling)
    clock = Clock(limit, float("inf") if max_cells is None else max_cells, verbose=verbose)
    clock.begin = clock.begin if begin is None else begin
    run, interrupted, flat = _begin(statement, clock, epsilon, seed), False, False
    clock.allowed_gap = gap_tol * max(abs(run.bound - statement.reward), 1e-300)
    try:
        flat = restricted is None and _rank(run) <= (2 if method in ("auto", "sweep") else 0)
        if not flat:
            _use_starts(run, [] if clock.over else starts())
        if flat or not clock.over:
            (restricted or METHODS["sweep" if flat else method])(run)
    except KeyboardInterrupt:
        interrupted = True
    run.collect()
    if restricted is not None and run.weights is None:
        run.weights = first_weights(run)
    w = _final_weights(run)
    claim = _claim(run, interrupted, "sweep" if flat else method, statistic)
    certificate, total = grade(statement, w, claim), float(statement.total)
    clock.record(certificate.value * total + clock.base, certificate.upper_bound * total + clock.base)
    return ExactSolution(w, claim, clock.trace, certificate)


def _restriction(statement: Statement, method: str) -> Callable[[Run], None] | None:
    """The search for whole-number weights or few features, where that is asked for."""
    rule, d = statement.rule, statement.X.shape[1]
    few = rule.features is not None and rule.features < d
    if method not in ("auto", "mip", "plane_search") and (few or rule.largest is not None):
        raise HullrankError(f"method={method!r} takes any real weights of all features; use method='auto'")
    if method in ("mip", "plane_search") and (few or rule.largest is not None or rule.n_signs):
        raise HullrankError(f"method={method!r} takes weights of any kind and sign; use method='auto'")
    if rule.largest is not None:
        return whole_numbers
    return few_features if few else None


def _begin(statement: Statement, clock: Clock, epsilon: float, seed: int) -> Run:
    arrangement = statement.arrangement
    first = arrangement.D.T @ arrangement.weight if len(arrangement.D) else np.ones(statement.X.shape[1])
    if not first.any():
        first = np.ones(len(first))
    clock.base, clock.total = statement.reward, float(statement.total)
    clock.record(arrangement.value(first), arrangement.top)
    return Run(statement, clock, [first], epsilon, seed, first, arrangement.top)


def _rank(run: Run) -> int:
    """Dimensions that the pairs span; 0 if all of them cancel, so that every direction is as good."""
    return spanning(run.arrangement).shape[1] if len(run.arrangement.D) else 0


def _use_starts(run: Run, starts: Sequence[Floats]) -> None:
    usable = [np.asarray(start) for start in starts if np.isfinite(start).all() and np.any(start)]
    run.starts += [scaled_direction(run.statement, start) for start in usable]
    run.v = max((start for start in run.starts if start.any()), key=run.arrangement.value)
    run.clock.record(run.arrangement.value(run.v), run.bound)


def _final_weights(run: Run) -> Floats:
    """The widest direction of the best cell; never below a start, which counts as its scores say."""
    if run.weights is not None:
        return run.weights
    late = run.clock.elapsed > 1.05 * run.clock.seconds + 0.3
    w, value = widest_weights(run.statement, run.v, widest=not late)
    for start in run.starts[-1:] if late else run.starts:
        raw = raw_weights(run.statement, start)
        if raw.any() and run.statement.rule.allows(raw):
            counted = predicted(run.statement, raw)
            if value < counted <= run.statement.recount(raw):
                w, value = raw, counted
    return w


def _claim(run: Run, interrupted: bool, method: str, statistic: str) -> Claim:
    reward, clock = run.statement.reward, run.clock
    return Claim(
        bound=run.bound - reward,
        stopped=Status.INTERRUPTED if interrupted else run.ended or _stopped(clock),
        step=run.arrangement.step if run.arrangement.integer else 0.0,
        top=run.arrangement.top - reward,
        allowed_gap=clock.allowed_gap,
        cells=clock.cells,
        seconds=clock.elapsed,
        solver=method,
        statistic=statistic,
        guarantee=run.guarantee,
        rigorous=run.rigorous and run.arrangement.integer,
        remarks=run.remarks,
        final=interrupted or run.ended is not None,
    )


def _stopped(clock: Clock) -> Status:
    if clock.left <= 0:
        return Status.MAX_CELLS
    return Status.TIME_LIMIT if clock.elapsed >= clock.seconds else Status.STALLED


register(Solver("exact search", "exact", solve_exact))
