"""Ranking by pairs of rows in blocks: the statement, and the tasks whose sums over the blocks evaluate it.

Three ways in which pairs lie in blocks:

- "queries": every query in one block. All that is needed are sums over the blocks, the Hessian among them.
- "ranks": few different targets, anywhere. Pairs are summed through ``pair_tables``.
- "ranges": many different targets, and every block a range of them. Pairs inside a block are summed exactly, the others
  through tables of a few ranks for every block.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank.data import check_queries
from hullrank.problem.all_pairs import AllPairs, comparable, pairs_per_query
from hullrank.problem.block_rows import BlockRows, Sums
from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import Penalty
from hullrank.problem.pair_moments import MomentTables, Nodes, moments
from hullrank.problem.pair_sets import Pairs
from hullrank.problem.pair_statement import PairStatement, Window
from hullrank.problem.pair_tables import Binned, Partners, PartnerTables, tallies
from hullrank.problem.pairs import PairProblem, listed_if_few
from hullrank.problem.rows import ArrayRows
from hullrank.problem.statement import Grade, Point

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Bins of scores per margin: with so many, the pairs on an unknown side of the margin cost less than 1e-7.
BINS = {Charge.HINGE: 4096, Charge.SQUARED_HINGE: 1024}
FEW_RANKS = 64  # different targets up to which pairs are summed by rank, in whatever blocks the rows lie
TABLE = 1 << 27  # bytes that the table of all bins may take


class PairBlock(NamedTuple):
    """Rows, their weights (such that all pairs of all blocks weigh 1), and the pairs inside the block, over ``rows``.

    ``rank`` is a row's rank among those that blocks share, or None where no pair reaches into another block.
    """

    X: Any
    weights: Floats
    rank: Ints | None
    rows: Ints
    inside: Pairs | None


class Plan(NamedTuple):
    """How raw blocks become blocks of pairs.

    ``edges`` are the least targets of the ranks that blocks share, in rising order; None where every pair lies in a
    query. ``total`` is the weight of all pairs before scaling (or, where queries weigh equally, their number).
    """

    kind: str
    total: float
    edges: Floats | None = None
    equal_queries: bool = False
    smooth: bool = False  # whether the charge is smooth

    @property
    def n_ranks(self) -> int:
        """The number of ranks that blocks share."""
        return 0 if self.edges is None else len(self.edges)

    def ranks(self, y: Floats) -> Ints | None:
        """The shared rank of every target."""
        return None if self.edges is None else np.searchsorted(self.edges, y, side="right") - 1


def inside_pairs(
    y: Floats, query: Ints, weights: Floats, plan: Plan | None = None
) -> tuple[Ints, AllPairs | None, float]:
    """The rows and pairs inside a block, and the weight of these pairs before scaling (equal queries: their number)."""
    equal = plan is not None and plan.equal_queries
    rows, pairs = comparable(y, query, weights, equal_queries=equal)
    if pairs is None:
        return rows, None, 0.0
    own = float(len(pairs.n_ranks))
    if not equal:
        own = float(pairs_per_query(pairs.rank, pairs.query, pairs.n_ranks, weights[rows]).sum())
    if plan is not None:
        pairs = AllPairs(pairs.rank, pairs.query, pairs.weights * np.sqrt(own / plan.total))
    return rows, pairs, own


def pair_block(block: tuple[Any, Floats, Floats, Any], plan: Plan) -> PairBlock:
    """A checked block (X, y, weights, queries or None) ready for the passes (a task)."""
    X, y, weights, qid = block
    rows: Ints = np.empty(0, dtype=np.int64)
    inside: Pairs | None = None
    if plan.kind != "ranks":
        rows, pairs, _ = inside_pairs(y, check_queries(qid, len(y)), weights, plan)
        inside = None if pairs is None else listed_if_few(pairs, smooth=plan.smooth)
    return PairBlock(X, weights / np.sqrt(plan.total), plan.ranks(y), rows, inside)


class View(NamedTuple):
    """Where passes look: weights w, what is subtracted from the scores, the mean of the rows; and how pairs of several
    blocks are summed: by bins of 1/N margins, or (of a smooth charge) by nodes."""

    w: Floats
    shift: float
    mean: Floats | None
    N: int
    nodes: Nodes | None


def tally_scores(block: PairBlock, view: View) -> Sums:
    """Scores by rank: weights and sums by bin, or moments; and between which numbers they lie (a task)."""
    if not len(block.weights):
        return {}
    assert block.rank is not None
    s = _scores(block, view)
    found: Any
    if view.nodes is not None:
        found = moments(block.rank, s, block.weights, view.nodes)
    else:
        at = _binned(block, s, view.N)
        found = tallies(at.rank, at.bins, at.scores, at.weights)
    return {"tallies": found, "range": [(float(s.min()), float(s.max()))]}


def pair_sums(
    block: PairBlock, view: View, charge: Charge, low: float, high: float, tables: PartnerTables | MomentTables | None
) -> Sums:
    """What the pairs of a block cost, and how they pull at the weights (a task).

    ``charge`` and ``square`` sum omega z and the ramp's square (a smooth charge: its value), ``pull`` is X'coef of the
    ramp from ``low`` to ``high``, ``window`` the weight of the pairs in it and ``unknown`` of those on no known side.
    """
    n = len(view.w)
    sums: Sums = {"charge": 0.0, "square": 0.0, "window": 0.0, "unknown": 0.0, "pull": np.zeros(n), "size": [0.0]}
    if not len(block.weights):
        return sums
    s = _scores(block, view)
    coef = np.zeros(len(s))
    if block.inside is not None:
        at = block.inside.at(s[block.rows])
        if charge.smooth:
            value, coef[block.rows], _ = at.smooth(charge)
            sums["square"] += value
        else:
            ramp = at.ramp(low, high)
            coef[block.rows] = ramp.coef
            sums["charge"] += at.hinge()[0]
            sums["square"] += ramp.square
            sums["window"] += ramp.inside
        if tables is None:
            rows = block.X[block.rows]
            sums["H"] = at.smooth_gram(charge, rows) if charge.smooth else at.gram(low, high, rows)
        block.inside.forget()  # before the next block is read
    if isinstance(tables, MomentTables):
        coef += _across_smoothly(block, s, charge, tables, sums)
    elif tables is not None:
        coef += _across(block, s, view.N, low, high, tables, sums)
    sums["pull"] = ArrayRows(block.X, None, view.mean).adjoint(coef)
    sums["size"] = [float(np.abs(s).max())]
    return sums


def _across(block: PairBlock, s: Floats, N: int, low: float, high: float, tables: PartnerTables, sums: Sums) -> Floats:
    """Add the pairs with rows of other blocks (all pairs, where none was counted inside); gives their coef."""
    at = _binned(block, s, N)
    own = None
    if block.inside is not None:
        own = PartnerTables.of(tallies(at.rank, at.bins, at.scores, at.weights), tables.below.shape[1])

    def within(reach: int, margin: float) -> Partners:
        found = tables.within(at, reach, margin)
        return found if own is None else found.less(own.within(at, reach, margin))

    hinge = low > -np.inf
    upper = within(round(high * N) - 1, high)
    charged = within(N - 1, 1.0) if hinge else upper
    coef = upper.coef
    sums["square"] += upper.square
    if hinge:
        lower = within(round(low * N), low)
        coef = coef - lower.coef
        sums["square"] -= lower.square
        sums["window"] += upper.weight - lower.weight
    sums["charge"] += charged.total
    sums["unknown"] += (within(N, 1.0).weight - charged.weight) / (N if hinge else N * N)
    return coef


def _across_smoothly(block: PairBlock, s: Floats, charge: Charge, tables: MomentTables, sums: Sums) -> Floats:
    """Add the pairs with rows of other blocks under a smooth charge; gives their coef."""
    assert block.rank is not None
    if block.inside is not None:
        tables = tables.less(moments(block.rank, s, block.weights, tables.nodes))
    value, coef = tables.charged(charge, block.rank, s, block.weights)
    sums["square"] += value
    return coef


def _scores(block: PairBlock, view: View) -> Floats:
    return np.asarray(block.X @ view.w).ravel() - view.shift


def _binned(block: PairBlock, s: Floats, N: int) -> Binned:
    assert block.rank is not None
    return Binned(block.rank, np.floor(s * N).astype(np.int64), s, block.weights)


@dataclass(frozen=True)
class PairSurvey:
    """All pairs at some weights: the objective (an upper bound of it, by what unknown pairs may cost), the gradient of
    the ``smoothed`` one and its value, what the window and unknown pairs leave open, and the Hessian where it is a
    sum."""

    w: Floats
    width: float
    objective: float
    smoothed: float
    gradient: Floats
    loose: float
    size: float
    H: Floats | None

    @property
    def gap(self) -> float:
        """How far the objective may lie above the optimum."""
        return 0.5 * float(self.gradient @ self.gradient) + self.loose


@dataclass(frozen=True)
class BlockPairStatement:
    """Pairs of rows in blocks and their charge; ``sample`` is the same problem over some of the rows."""

    rows: BlockRows
    plan: Plan
    sample: PairStatement
    C: float
    charge: Charge
    mean: Floats | None
    n_pairs: int
    family = "pairs in blocks"
    space = None

    @property
    def passes(self) -> int:
        """How often all rows were gone through."""
        return self.rows.passes

    @property
    def problem(self) -> PairProblem:
        """The problem over the sample of the rows."""
        return replace(self.sample.problem, charge=self.charge)

    @property
    def n_order_constraints(self) -> int:
        """Number of pairs."""
        return self.n_pairs

    def survey(self, w: Floats, width: float) -> PairSurvey:
        """All pairs at some weights, the hinge smoothed over about ``width``: one pass, or two through tables."""
        problem, shift = self.problem, 0.0 if self.mean is None else float(self.mean @ w)
        view = View(w, shift, self.mean, self._bins(w), None)
        if self.charge is Charge.HINGE and self.plan.kind != "queries":
            width = max(2 * np.ceil(width * view.N / 2), 2) / view.N  # the ends of the window are ends of bins
        view, tables = self._tables(view)
        low, high, slope = problem.window(width) if not self.charge.smooth else (-np.inf, 0.0, self.C)
        sums = self.rows.sum(pair_sums, view, self.charge, low, high, tables)
        paid = sums["charge"] if self.charge is Charge.HINGE else sums["square"]
        unknown = self.C * sums["unknown"]
        loose = unknown + (self.C * width * sums["window"] / 16 if self.charge is Charge.HINGE else 0.0)
        objective = Penalty.L2.of(w) + self.C * paid + unknown
        smoothed = Penalty.L2.of(w) + 0.5 * slope * sums["square"] if self.charge is Charge.HINGE else objective
        H = slope * sums["H"] if "H" in sums else None
        size = max(sums["size"]) + abs(shift)
        return PairSurvey(w, width, objective, smoothed, w + slope * sums["pull"], loose, size, H)

    def _tables(self, view: View) -> tuple[View, PartnerTables | MomentTables | None]:
        """What a pass finds of the scores of all blocks, for the pairs between them."""
        if self.plan.kind == "queries":
            return view, None
        if not self.charge.smooth:
            return view, PartnerTables.of(self.rows.sum(tally_scores, view)["tallies"], self.plan.n_ranks)
        s = self.sample.scores(Point(view.w)) - view.shift
        low, high = float(s.min()), float(s.max())
        ends = low - (high - low) / 3, high + (high - low) / 3  # scores of all rows reach further than those of a few
        while True:
            view = view._replace(nodes=Nodes.between(*ends))
            found = self.rows.sum(tally_scores, view)
            low, high = min(each[0] for each in found["range"]), max(each[1] for each in found["range"])
            if ends[0] <= low and high <= ends[1]:
                assert view.nodes is not None
                return view, MomentTables.of(view.nodes, found["tallies"], self.plan.n_ranks)
            ends = min(low, ends[0]), max(high, ends[1])

    def _bins(self, w: Floats) -> int:
        """Bins to the margin: fewer where the table would be too large, which the gap then tells."""
        usual = BINS.get(self.charge, 1)
        s = self.sample.scores(Point(w))
        bytes_a_bin = 64.0 * max(1, self.plan.n_ranks) * max(2.0, 2 * float(np.ptp(s)))
        return int(max(16, min(usual, TABLE // bytes_a_bin)))

    def grade(self, point: Point, evidence: Window | PairSurvey, scores: Floats | None = None) -> Grade:
        """Objective of the point, and the lower bound from the multipliers that the charge has there.

        A survey of the same weights serves for the grade; a window asks for one.
        """
        found = evidence
        if isinstance(found, Window) or not np.array_equal(found.w, point.coef):
            found = self.survey(point.coef, evidence.width)
        reach = found.size + (0.0 if self.mean is None else float(np.abs(self.mean) @ np.abs(point.coef)))
        digits = 2 * EPSILON * (1 + reach)
        pulled = digits * self.C * float(np.linalg.norm(found.gradient)) * (1 + float(np.linalg.norm(point.coef)))
        noise = EPSILON * abs(found.objective) + self.C * digits + pulled
        return Grade(found.objective, found.objective - found.gap - noise, noise)
