"""All exact methods behind one call: starts, a method, the settled direction, and its certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement, best_of
from hullrank.exact.branch_and_bound import BranchAndBound
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import MOST_DIMENSIONS, spanning, whitening
from hullrank.exact.direction import predicted, raw_weights, scaled_direction, settle
from hullrank.exact.grade import Claim, grade
from hullrank.exact.mip import rank_program
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exact.plane_sweep import maximise_flat
from hullrank.exact.statement import Statement
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import Status
from hullrank.problem.exact_certificate import ExactCertificate
from hullrank.solvers.linear_program import ProgramStatus

Floats = NDArray[np.float64]
Trace = list[tuple[float, float, float]]

_MOST_BINARIES = 150_000

_PROOF = (
    "the value is counted from the predicted scores; the bound holds for all weights: which pairs are parallel or "
    "cancel is decided in integers, and the cells of directions are bounded in padded floating point"
)
_MIP = (
    "the value is counted from the predicted scores; the bound is what HiGHS claims for scores that rank every won "
    "pair by a margin of epsilon relative to the worst violation, and no proof for smaller margins"
)


@dataclass(frozen=True)
class ExactSolution:
    """Weights for the raw columns, what is claimed about the optimum, (seconds, value, bound) over time, the grade."""

    w: Floats
    claim: Claim
    trace: Trace
    certificate: ExactCertificate


@dataclass
class Run:
    """What a method works on, and what it has reached: right at any moment, so that Ctrl-C loses nothing.

    ``v`` is the best direction of the arrangement and ``bound`` the bound of its F, rewards for signs included.
    """

    statement: Statement
    clock: Clock
    starts: list[Floats]
    epsilon: float
    seed: int
    v: Floats
    bound: float
    engine: BranchAndBound | None = None
    search: PlaneSearch | None = None
    back: Floats = field(default_factory=lambda: np.empty(0))
    guarantee: str = _PROOF
    remarks: tuple[str, ...] = ()
    ended: Status | None = None

    @property
    def arrangement(self) -> Arrangement:
        """F over directions."""
        return self.statement.arrangement

    def collect(self) -> None:
        """Take over the best of a running search."""
        if self.engine is not None:
            self.bound = min(self.bound, self.engine.bound)
            self.v = self.v if self.engine.w is None else self.engine.w
        if self.search is not None:
            self.v = self.back @ self.search.w


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
) -> ExactSolution:
    """Maximise the statement; ``starts`` computes directions for the raw columns that the answer is never below."""
    if method == "mip":
        _check_program(statement)
    infinite = float("inf")
    clock = Clock(
        infinite if time_limit is None else time_limit, infinite if max_cells is None else max_cells, verbose=verbose
    )
    run, interrupted, flat = _begin(statement, clock, epsilon, seed), False, False
    clock.allowed_gap = gap_tol * max(abs(run.bound - statement.reward), 1e-300)
    try:
        flat = _rank(run) <= (2 if method in ("auto", "sweep") else 0)
        if not flat:
            _use_starts(run, [] if clock.over else starts())
        if flat or not clock.over:
            METHODS["sweep" if flat else method](run)
    except KeyboardInterrupt:
        interrupted = True
    run.collect()
    w = _settle(run)
    claim = _claim(run, interrupted, "sweep" if flat else method, statistic)
    certificate, total = grade(statement, w, claim), float(statement.total)
    clock.record(certificate.value * total + clock.base, certificate.upper_bound * total + clock.base)
    return ExactSolution(w, claim, [(seconds, v / total, b / total) for seconds, v, b in clock.trace], certificate)


def _begin(statement: Statement, clock: Clock, epsilon: float, seed: int) -> Run:
    arrangement = statement.arrangement
    first = arrangement.D.T @ arrangement.weight if len(arrangement.D) else np.ones(statement.X.shape[1])
    if not first.any():
        first = np.ones(len(first))
    clock.base = statement.reward
    clock.record(arrangement.value(first), arrangement.top)
    return Run(statement, clock, [first], epsilon, seed, first, arrangement.top)


def _rank(run: Run) -> int:
    """Dimensions that the pairs span; 0 if all of them cancel, so that every direction is as good."""
    return spanning(run.arrangement).shape[1] if len(run.arrangement.D) else 0


def _use_starts(run: Run, starts: Sequence[Floats]) -> None:
    usable = [np.asarray(start) for start in starts if np.isfinite(start).all() and np.any(start)]
    run.starts += [scaled_direction(run.statement, start) for start in usable]
    value, best = best_of(run.arrangement, run.starts)
    if best is not None:
        run.v = best
        run.clock.record(value, run.bound)


def _sweep(run: Run) -> None:
    arrangement = run.arrangement
    if not len(arrangement.D):
        return
    basis = spanning(arrangement)
    if basis.shape[1] > 2:
        raise HullrankError(
            f"method='sweep' ranks rows that span a plane; these span {basis.shape[1]} dimensions; use method='auto'"
        )
    run.bound, v = maximise_flat(arrangement.transformed(basis))
    run.v = basis @ v
    run.clock.cells += 1
    run.clock.record(arrangement.value(run.v), run.bound)


def _plane_search(run: Run) -> None:
    arrangement = run.arrangement
    run.back = whitening(arrangement.D, spanning(arrangement))
    into = np.linalg.pinv(run.back)
    run.search = PlaneSearch(arrangement.transformed(run.back), into @ run.v, np.random.default_rng(run.seed))
    while not run.clock.expired and run.search.value < run.bound - run.arrangement.step:
        run.search.run(1)
        run.clock.cells += 1
        run.clock.record(run.search.value, run.bound)


def _branch_and_bound(run: Run) -> None:
    basis = spanning(run.arrangement)
    if basis.shape[1] <= 2:
        _sweep(run)
    elif basis.shape[1] > MOST_DIMENSIONS:
        _plane_search(run)
    else:
        run.engine = BranchAndBound(run.arrangement, basis, run.clock, start=run.v, seed=run.seed)
        run.engine.run()


def _check_program(statement: Statement) -> None:
    if len(statement.above) > _MOST_BINARIES:
        raise HullrankError(
            f"method='mip' would give HiGHS {len(statement.above):,} binary variables, and above "
            f"{_MOST_BINARIES:,} it keeps no time limit; use method='auto', or write_mip for another solver"
        )


def _mip(run: Run) -> None:
    program = rank_program(run.statement, run.epsilon)
    start = raw_weights(run.statement, run.v)
    w, claimed, bound, answer = program.solve(run.clock.seconds - run.clock.elapsed, start)
    run.v = scaled_direction(run.statement, w) if w.any() else run.v
    run.guarantee = _MIP
    run.bound = min(run.bound, bound + run.statement.reward)
    counted = float(run.statement.recount(w))
    if abs(counted - claimed) > 1e-6 * max(1.0, abs(counted)):
        run.remarks = (f"HiGHS claimed {claimed:.10g} for weights whose recounted statistic is {counted:.10g}",)
    endings = {ProgramStatus.OPTIMAL: Status.CONVERGED, ProgramStatus.INTERRUPTED: Status.INTERRUPTED}
    run.ended = endings.get(answer.status, Status.TIME_LIMIT)
    run.clock.record(counted + run.statement.reward, run.bound)


METHODS: dict[str, Callable[[Run], None]] = {
    "auto": _branch_and_bound,
    "sweep": _sweep,
    "plane_search": _plane_search,
    "branch_and_bound": _branch_and_bound,
    "mip": _mip,
}
"""The names of the methods and what they do with a run."""


def _settle(run: Run) -> Floats:
    """The widest direction of the best cell; never below a start, which counts as its scores say."""
    late = run.clock.elapsed > 1.05 * run.clock.seconds + 0.3
    w, value = settle(run.statement, run.v, widest=not late)
    for start in run.starts[:: -1 if late else 1][: 1 if late else None]:
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
        remarks=run.remarks,
        final=interrupted or run.ended is not None,
    )


def _stopped(clock: Clock) -> Status:
    if clock.left <= 0:
        return Status.MAX_CELLS
    return Status.TIME_LIMIT if clock.elapsed >= clock.seconds else Status.STALLED
