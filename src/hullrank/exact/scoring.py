"""Scoring systems: the best statistic over whole-number weights of limited size, for a limited number of features.

Ties are errors here as everywhere, and whole-number weights do tie rows, so pairs that a real direction would decide
may be lost: parallel pairs are added up on either side of their direction, but opposite ones do not cancel.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import unit_differences
from hullrank.exact.clock import Clock
from hullrank.exact.integers import parallel_classes
from hullrank.exact.statement import PairStatement, RankStatement, Statement

Floats = NDArray[np.float64]

GUARANTEE = (
    "the value is counted from the predicted scores; the bound holds for all whole-number weights of the allowed size "
    "and number, by branch and bound over them"
)
_EXACT = 2.0**53
_TURN = 2e8
"""Products after which the compiled search returns to look at the clock."""


@dataclass(frozen=True)
class TwoSided:
    """Directions (a row per feature) in raw units, what they earn on either side, and the owners' table if any.

    ``tol`` is 0 where all scores are whole numbers in floating point too; else sums below it count as ties.
    """

    D: Floats
    sides: Floats
    owner: NDArray[np.intp]
    copies: Floats
    gain: Floats
    tol: float


def two_sided(statement: Statement, largest: int) -> TwoSided:
    """The pairs of a statement as directions for whole-number weights up to ``largest``."""
    grid, above, below = statement.grid, statement.above, statement.below
    unit = unit_differences(grid, above, below)
    differ = np.asarray(unit.any(axis=1))
    unit, above, below = unit[differ], above[differ], below[differ]
    ratios = [step / min(grid.steps) for step in grid.steps]
    scale = np.lcm.reduce([min(ratio.denominator, 10**6) for ratio in ratios])
    D = (grid.values[above] - grid.values[below]) * (grid.units / float(min(grid.steps)) * float(scale))
    whole = grid.small and bool((np.rint(D) == D).all())
    reach = float(np.abs(D).sum(axis=1).max()) * largest
    tol = 0.0 if whole and reach < _EXACT else 1e-13 * reach
    if isinstance(statement, PairStatement):
        first, group, sign = parallel_classes(grid, above, below, unit)
        weight = statement.pair_weights[differ]
        up, down = (np.bincount(group, weight * (sign == side), len(first)) for side in (1.0, -1.0))
        owner = np.zeros(len(first), dtype=np.intp)
        sides = np.array([up, down], np.float64)
        return TwoSided(np.ascontiguousarray(D[first].T), sides, owner, np.ones(1), np.empty(0), tol)
    assert isinstance(statement, RankStatement)
    owners = np.flatnonzero(statement.positive)
    sides = np.array([statement.counts[below], np.zeros(len(below))], np.float64)
    owner = np.searchsorted(owners, above)
    return TwoSided(np.ascontiguousarray(D.T), sides, owner, statement.positive[owners], statement.gain, tol)


class ScoringSearch:
    """One search; ``value``, ``w`` and ``bound`` are right at any moment, so that it can be interrupted and go on."""

    def __init__(self, statement: Statement, clock: Clock, *, step: float, bound: float) -> None:
        rule, d = statement.rule, statement.X.shape[1]
        assert rule.largest is not None
        self._statement, self._clock = statement, clock
        self._pairs = two_sided(statement, rule.largest)
        signs = rule.signs_of(d)
        box = np.concatenate([np.where(signs > 0, 0, -rule.largest), np.where(signs < 0, 0, rule.largest), [bound]])
        levels = d * (3 + int(rule.largest).bit_length())
        self._stack = np.zeros((3 * levels + 3, 2 * d + 1))
        self._stack[0] = box
        self._depth, self._features, self._half = 1, rule.features or d, 0.5 * step
        self._best = np.concatenate([[-np.inf, np.inf, -np.inf], np.zeros(d)])
        self._size = np.abs(self._pairs.D).mean(axis=1)
        self._work = np.empty((2, self._pairs.D.shape[1]))
        self.bound = bound

    @property
    def exact(self) -> bool:
        """Whether all scores were whole numbers, so that nothing was rounded."""
        return self._pairs.tol == 0.0

    @property
    def value(self) -> float:
        """The best value found."""
        return float(self._best[0])

    @property
    def w(self) -> Floats | None:
        """Its weights, the smallest found."""
        return self._best[3:].copy() if np.isfinite(self._best[0]) else None

    def offer(self, w: Floats) -> None:
        """Weights found elsewhere; they must be allowed."""
        value, total = float(self._statement.recount(w)), float(np.abs(w).sum())
        if value > self._best[0] or (value == self._best[0] and total < self._best[1]):
            self._best[0], self._best[1], self._best[3:] = value, total, w

    def run(self) -> None:
        """Search until proven or a limit is met; may be called again to go on."""
        from hullrank.exact._scoring_loops import search_weights

        pairs = self._pairs
        turn = max(100.0, _TURN / pairs.D.size)
        while self._depth and not self._clock.expired:
            limits = np.array([min(turn, self._clock.left), self._features, pairs.tol, self._half])
            self._depth, looked = search_weights(
                pairs.D, pairs.sides, pairs.owner, pairs.copies, pairs.gain, self._size,
                self._stack, self._depth, self._best, limits, self._work,
            )  # fmt: skip
            open_boxes = float(self._stack[: self._depth, -1].max(initial=-np.inf))
            self.bound = min(self.bound, max(self.value, float(self._best[2]), open_boxes))
            self._clock.cells += looked
            self._clock.record(self.value, self.bound)


def few_weights(statement: Statement, w: Floats) -> Floats:
    """Real weights of as many features as are allowed, those that matter most, without weights of a wrong sign."""
    right = np.where(statement.rule.signs_of(len(w)) * w < 0, 0.0, w)
    kept = np.argsort(-np.abs(right * statement.scale), kind="stable")[: statement.rule.features]
    few = np.zeros_like(w)
    few[kept] = right[kept]
    return few


def rounded_weights(statement: Statement, w: Floats) -> list[Floats]:
    """Whole-number weights near multiples of real ones, the features that matter least left out."""
    rule = statement.rule
    assert rule.largest is not None
    few = few_weights(statement, w)
    size = np.abs(few).max()
    if not size > 0:
        return []
    found = {tuple(np.rint(few / size * scale).tolist()) for scale in np.linspace(0.5, rule.largest, 60)}
    return [np.array(each) + 0.0 for each in sorted(found) if any(each)]
