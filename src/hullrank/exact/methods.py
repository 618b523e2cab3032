"""What each exact method does with a run."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.branch_and_bound import SWEEP_FROM, BranchAndBound
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import MOST_DIMENSIONS, spanning
from hullrank.exact.direction import raw_weights, scaled_direction
from hullrank.exact.lattice import GUARANTEE, LatticeSearch, reason_against
from hullrank.exact.mip import rank_program
from hullrank.exact.packing import Packing
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exact.plane_sweep import maximise_flat
from hullrank.exact.statement import Statement
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import Status
from hullrank.solvers.linear_program import ProgramStatus

Floats = NDArray[np.float64]

_MOST_BINARIES = 150_000
_FIRST_TURN = 2.0
"""Seconds of the first turn when two methods take turns; every turn is twice as long as the one before."""
_PACKING, _LONGEST, _PASSES = 0.5, 60.0, 8
"""Share of the time that packing may take, the most seconds, and the most passes."""
_SETTING_UP = 2e-7
"""Seconds per entry of the pairs that packing takes before the first set is found."""
_BEHIND = 8.0
"""How much shorter the turns are of the method that lowers the bound more slowly."""

_PROOF = (
    "the value is counted from the predicted scores; the bound holds for all weights: which pairs are parallel or "
    "cancel is decided in integers, and the cells of directions are bounded in padded floating point"
)
_SWEPT = (
    "the value is counted from the predicted scores; the bound holds for all weights: the order in which a turning "
    "direction meets the pairs was decided in integers where floating point leaves doubt"
)
_MIP = (
    "the value is counted from the predicted scores; the bound is what HiGHS claims for scores that rank every won "
    "pair by a margin of epsilon relative to the worst violation, and no proof for smaller margins"
)


@dataclass
class Run:
    """What a method works on, and what it has reached: right at any moment, so that Ctrl-C loses nothing.

    ``v`` is the best direction of the arrangement and ``bound`` the bound of its F, rewards for signs included.
    ``weights`` are an answer for the raw columns that needs no settling.
    """

    statement: Statement
    clock: Clock
    starts: list[Floats]
    epsilon: float
    seed: int
    v: Floats
    bound: float
    engine: BranchAndBound | None = None
    lattice: LatticeSearch | None = None
    weights: Floats | None = None
    guarantee: str = _PROOF
    rigorous: bool = False
    remarks: tuple[str, ...] = ()
    ended: Status | None = None

    @property
    def arrangement(self) -> Arrangement:
        """F over directions."""
        return self.statement.arrangement

    @property
    def proven(self) -> bool:
        """Whether no direction can be better by as much as values differ, or by the gap that is allowed."""
        return self.bound < self.arrangement.value(self.v) + max(self.arrangement.step, self.clock.allowed_gap)

    def collect(self) -> None:
        """Take over the best of a running search."""
        if self.engine is not None:
            self.bound = min(self.bound, self.engine.bound)
            self.v = self.v if self.engine.w is None else self.engine.w
        if self.lattice is not None:
            self.rigorous = self.lattice.bound <= self.bound
            self.guarantee = GUARANTEE if self.rigorous else _PROOF
            self.bound = min(self.bound, self.lattice.bound)
            self.v = max(self.v, self.lattice.w, key=self.arrangement.value)


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
    run.guarantee, run.rigorous = _SWEPT, arrangement.integer
    run.clock.cells += 1
    run.clock.record(arrangement.value(run.v), run.bound)


def _plane_search(run: Run) -> None:
    arrangement = run.arrangement
    search = PlaneSearch(arrangement, spanning(arrangement), np.random.default_rng(run.seed), run.v)
    before = -1
    try:
        while run.clock.cells > before and search.value < run.bound - arrangement.step:
            before = run.clock.cells
            search.run_within(1, run.clock)
            run.clock.record(search.value, run.bound)
    finally:
        run.v = search.w


def _branch_and_bound(run: Run) -> None:
    basis = spanning(run.arrangement)
    if basis.shape[1] <= 2:
        _sweep(run)
    elif basis.shape[1] > MOST_DIMENSIONS:
        _plane_search(run)
    else:
        run.engine = BranchAndBound(run.arrangement, basis, run.clock, start=run.v, seed=run.seed)
        if basis.shape[1] >= SWEEP_FROM and run.arrangement.gain is None:
            _pack(run, basis.shape[1])
        run.engine.run()


def _pack(run: Run, rank: int) -> None:
    """A first bound from sets of pairs that no direction wins together, for many dimensions."""
    engine, top = run.engine, run.arrangement.top
    assert engine is not None
    seconds = min(_PACKING * run.clock.remaining, _LONGEST)
    if seconds < _SETTING_UP * run.arrangement.D.size:
        return
    run.collect()

    def better(losses: float) -> None:
        engine.learn(run.v, top - losses)
        run.clock.record(engine.value, engine.bound)

    packing = Packing(run.arrangement, run.v, rank, run.seed)
    counted = np.isfinite(run.clock.max_cells)  # what is reached should not depend on the machine
    packing.run(run.clock, seconds, 1 if counted else _PASSES, better)


def _lattice(run: Run) -> None:
    reason = reason_against(run.arrangement)
    if reason:
        raise HullrankError(reason)
    run.lattice = LatticeSearch(run.arrangement, run.clock, start=run.v, seed=run.seed)
    run.lattice.run()


def _auto(run: Run) -> None:
    """Branch and bound, and the lattice program where directions are few; they take turns and share what they find."""
    if not reason_against(run.arrangement):
        run.lattice = LatticeSearch(run.arrangement, run.clock, start=run.v, seed=run.seed)
    if run.lattice is None or run.lattice.hopeless:
        _branch_and_bound(run)
    elif np.isinf(run.clock.max_cells):
        _take_turns(run, run.lattice)
    elif run.lattice.promising:  # turns of so many seconds would depend on the machine
        run.lattice.run()
    else:
        _branch_and_bound(run)


def _take_turns(run: Run, lattice: LatticeSearch) -> None:
    """The lattice program and branch and bound in turns, the more promising first; the slower gets shorter turns."""
    turn, programs = _FIRST_TURN, lattice.promising  # whether it is the turn of the lattice program
    gains = {True: float("inf"), False: float("inf")}  # by how much a second lowered the bound, in the last turn
    while not run.proven and not run.clock.over:
        behind, before = gains[programs] < gains[not programs], run.bound
        seconds = turn / _BEHIND if behind else turn
        run.clock.until = run.clock.elapsed + seconds
        if programs:
            lattice.run()
        elif run.engine is None:
            _branch_and_bound(run)
        else:
            run.engine.run()
        run.collect()
        lattice.offer(run.v)
        if run.engine is not None:
            run.engine.learn(run.v, run.bound)
        gains[programs] = (before - run.bound) / seconds
        turn, programs = turn if behind else 2 * turn, not programs
    run.clock.until = float("inf")


def check_program(statement: Statement) -> None:
    """Refuse programs for which HiGHS would forget its time limit."""
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
    "auto": _auto,
    "sweep": _sweep,
    "plane_search": _plane_search,
    "branch_and_bound": _branch_and_bound,
    "lattice": _lattice,
    "mip": _mip,
}
"""The names of the methods and what they do with a run."""
