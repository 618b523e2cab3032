"""All exact methods behind one call: starts, a method, the settled direction, and its certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import TOLERANCE, Arrangement, best_of
from hullrank.exact.branch_and_bound import BranchAndBound
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning, whitening
from hullrank.exact.direction import settle
from hullrank.exact.mip import rank_program
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exact.plane_sweep import maximise_flat
from hullrank.exact.statement import Statement, column_scale
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import Status
from hullrank.problem.exact_certificate import ExactCertificate
from hullrank.solvers.linear_program import ProgramStatus

Floats = NDArray[np.float64]
Trace = list[tuple[float, float, float]]

_MOST_BINARIES = 150_000

_PROOF = (
    "the value holds without rounding; the bound holds for all directions, computed in padded floating point (not "
    "interval arithmetic), with pair directions nearer than the tolerance taken as equal"
)
_MIP = (
    "the value holds without rounding; the bound is what HiGHS claims for scores that rank every won pair by a margin "
    "of epsilon relative to the worst violation, and no proof for smaller margins"
)


@dataclass(frozen=True)
class ExactSolution:
    """Weights for the raw columns, scaled to max |w_j| = 1, the certificate, and (seconds, value, bound) over time."""

    w: Floats
    certificate: ExactCertificate
    trace: Trace


@dataclass
class _Run:
    """What a method works on, and what it has reached: right at any moment, so that Ctrl-C loses nothing."""

    statement: Statement
    clock: Clock
    starts: list[Floats]
    epsilon: float
    seed: int
    w: Floats
    bound: float
    engine: BranchAndBound | None = None
    search: PlaneSearch | None = None
    back: Floats = field(default_factory=lambda: np.empty(0))
    guarantee: str = _PROOF
    remarks: tuple[str, ...] = ()
    ended: Status | None = None

    @property
    def arrangement(self) -> Arrangement:
        return self.statement.arrangement

    def collect(self) -> None:
        """Take over the best of a running search."""
        if self.engine is not None:
            self.bound = min(self.bound, self.engine.bound)
            self.w = self.w if self.engine.w is None else self.engine.w
        if self.search is not None:
            self.w = self.back @ self.search.w


def solve_exact(
    statement: Statement,
    *,
    method: str,
    statistic: str,
    starts: Callable[[], Sequence[Floats]],
    time_limit: float,
    max_cells: int | None,
    gap_tol: float,
    epsilon: float,
    seed: int,
    verbose: int = 0,
) -> ExactSolution:
    """Maximise the statement; ``starts`` computes directions for the raw columns that the answer is never below."""
    if method == "mip":
        _check_program(statement)
    clock = Clock(time_limit, float("inf") if max_cells is None else max_cells, verbose=verbose)
    run, interrupted, flat = _begin(statement, clock, epsilon, seed), False, False
    clock.allowed_gap = gap_tol * max(abs(run.bound), 1e-300)
    try:
        flat = _rank(run) <= (2 if method in ("auto", "sweep") else 0)
        if not flat:
            _use_starts(run, starts())
        METHODS["sweep" if flat else method](run)
    except KeyboardInterrupt:
        interrupted = True
    run.collect()
    w, value = _settle(run)
    return _solution(run, w, value, interrupted, "sweep" if flat else method, statistic)


def _begin(statement: Statement, clock: Clock, epsilon: float, seed: int) -> _Run:
    arrangement = statement.arrangement
    first = arrangement.D.T @ arrangement.weight if len(arrangement.D) else np.ones(statement.X.shape[1])
    if not first.any():
        first = np.ones(len(first))
    clock.record(arrangement.value(first), arrangement.top)
    return _Run(statement, clock, [first], epsilon, seed, first, arrangement.top)


def _rank(run: _Run) -> int:
    """Dimensions that the pairs span; 0 if all of them cancel, so that every direction is as good."""
    return spanning(run.arrangement.D).shape[1] if len(run.arrangement.D) else 0


def _use_starts(run: _Run, starts: Sequence[Floats]) -> None:
    scale = column_scale(run.statement.X)
    run.starts += [start * scale for start in starts if np.isfinite(start).all() and start.any()]
    value, best = best_of(run.arrangement, run.starts)
    if best is not None:
        run.w = best
        run.clock.record(value, run.bound)


def _sweep(run: _Run) -> None:
    arrangement = run.arrangement
    if not len(arrangement.D):
        return
    basis = spanning(arrangement.D)
    if basis.shape[1] > 2:
        raise HullrankError(
            f"method='sweep' ranks rows that span a plane; these span {basis.shape[1]} dimensions; use method='auto'"
        )
    run.bound, v = maximise_flat(arrangement.transformed(basis))
    run.w = basis @ v
    run.clock.cells += 1
    run.clock.record(run.bound, run.bound)


def _plane_search(run: _Run) -> None:
    arrangement = run.arrangement
    run.back = whitening(arrangement.D, spanning(arrangement.D))
    into = np.linalg.pinv(run.back)
    run.search = PlaneSearch(arrangement.transformed(run.back), into @ run.w, np.random.default_rng(run.seed))
    while not run.clock.expired and run.search.value < run.bound - run.arrangement.step:
        run.search.run(5)
        run.clock.cells += 5
        run.clock.record(run.search.value, run.bound)


def _branch_and_bound(run: _Run) -> None:
    basis = spanning(run.arrangement.D)
    if basis.shape[1] <= 2:
        _sweep(run)
        return
    run.engine = BranchAndBound(run.arrangement, basis, run.clock, start=run.w, seed=run.seed)
    run.engine.run()


def _check_program(statement: Statement) -> None:
    if len(statement.above) > _MOST_BINARIES:
        raise HullrankError(
            f"method='mip' would give HiGHS {len(statement.above):,} binary variables, and above "
            f"{_MOST_BINARIES:,} it keeps no time limit; use method='auto', or write_mip for another solver"
        )


def _mip(run: _Run) -> None:
    scale = column_scale(run.statement.X)
    program = rank_program(run.statement, run.epsilon)
    w, claimed, bound, answer = program.solve(run.clock.seconds - run.clock.elapsed, run.w / scale)
    run.w = w * scale if w.any() else run.w
    run.guarantee = _MIP
    run.bound = min(run.bound, bound)
    counted = float(run.statement.recount(w))
    if abs(counted - claimed) > 1e-6 * max(1.0, abs(counted)):
        run.remarks = (f"HiGHS claimed {claimed:.10g} for weights whose recounted statistic is {counted:.10g}",)
    endings = {ProgramStatus.OPTIMAL: Status.CONVERGED, ProgramStatus.INTERRUPTED: Status.INTERRUPTED}
    run.ended = endings.get(answer.status, Status.TIME_LIMIT)
    run.clock.record(counted, run.bound)


METHODS: dict[str, Callable[[_Run], None]] = {
    "auto": _branch_and_bound,
    "sweep": _sweep,
    "plane_search": _plane_search,
    "branch_and_bound": _branch_and_bound,
    "mip": _mip,
}
"""The names of the methods and what they do with a run."""


def _settle(run: _Run) -> tuple[Floats, Fraction]:
    """The widest direction of the best cell; never below a start, which counts as the recount says."""
    w, value = settle(run.statement, run.w)
    scale = column_scale(run.statement.X)
    for start in run.starts:
        raw = start / scale
        counted = run.statement.recount(raw)
        if counted > value:
            w, value = raw / np.abs(raw).max(), counted
    return w, value


def _solution(run: _Run, w: Floats, value: Fraction, interrupted: bool, method: str, statistic: str) -> ExactSolution:
    total, clock = run.statement.total, run.clock
    arrangement = run.arrangement
    slack = 1e-9 * max(1.0, abs(arrangement.top))
    bound = float(np.floor(run.bound + 0.01)) if arrangement.integer else run.bound
    attained = float(value) >= bound - (0.0 if arrangement.integer else slack)
    upper = float(value / total) if attained else bound / float(total)
    clock.record(float(value), max(float(value), bound))
    certificate = ExactCertificate(
        value=float(value / total),
        upper_bound=upper,
        status=_status(run, attained, interrupted, bound - float(value)),
        statistic=statistic,
        cells=clock.cells,
        seconds=clock.elapsed,
        solver=method,
        n_order_constraints=len(run.statement.above),
        tolerance=TOLERANCE,
        guarantee=run.guarantee,
        remarks=run.remarks,
    )
    trace = [(seconds, v / float(total), b / float(total)) for seconds, v, b in clock.trace]
    return ExactSolution(w, certificate, trace)


def _status(run: _Run, attained: bool, interrupted: bool, gap: float) -> Status:
    if interrupted:
        return Status.INTERRUPTED
    if run.ended is not None:
        return run.ended
    if attained:
        return Status.PROVEN_OPTIMAL
    if gap <= run.clock.allowed_gap:
        return Status.CONVERGED
    if run.clock.left <= 0:
        return Status.MAX_CELLS
    return Status.TIME_LIMIT if run.clock.elapsed >= run.clock.seconds else Status.STALLED
