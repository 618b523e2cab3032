"""The mean squared distance of the samples of a pair, over pairs of rows in blocks: what C="scale" is measured by.

Rows of one rank are known by their weight W, their weighted sum S and their weighted sum of squares Q. All pairs of two
ranks r and s then sum to W_s Q_r + W_r Q_s - 2 S_r.S_s, so that sums over the blocks give the number that all rows in
memory would give.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.all_pairs import AllPairs, comparable, group_sums
from hullrank.problem.block_pairs import FEW_RANKS, Plan
from hullrank.problem.block_rows import Sums
from hullrank.problem.pair_sets import row_products

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_COLUMNS = 500  # beyond, sums by target of many blocks would take too much memory, and the sample has to do
_ENOUGH_LEFT = 1e-9  # share of the sum of squares that is left around the mean, at which seven digits are lost


def look_at_spread(
    X: Any, y: Floats, weights: Floats, query: Ints, inside: tuple[Ints, AllPairs | None, float], equal_queries: bool
) -> Sums:
    """The sums of one block, for `mean_square` (part of a task); none where there are too many columns.

    ``inside`` are the rows, the pairs inside the block and their weight, as `inside_pairs` gives them.
    """
    width = X.shape[1]
    if width > _MOST_COLUMNS:
        return {}
    rows, pairs, own = inside
    if equal_queries:
        rows, pairs = comparable(y, query, weights, equal_queries=True)
        own = 0.0 if pairs is None else float(len(pairs.n_ranks))
    square = 0.0
    if pairs is not None:
        Z = X if len(rows) == X.shape[0] else X[rows]
        centre = np.zeros(width) if not isinstance(Z, np.ndarray) else Z.mean(axis=0)
        square = own * pairs.mean_square(Z, centre)
    ends = y.min(), y.max()
    part = np.where(y == ends[0], 0, np.where(y == ends[1], 2, 1))
    sums: Sums = {"inside_square": square, "range_sums": [_by_group(X, weights, part, 3)]}
    targets, codes = np.unique(y, return_inverse=True)
    if len(targets) <= FEW_RANKS:
        by_target = _by_group(X, weights, codes, len(targets))
        sums["target_sums"] = {width: dict(zip(targets.tolist(), by_target, strict=True))}
    return sums


def mean_square(found: Sums, plan: Plan) -> float | None:
    """The mean over all pairs of all blocks; None where the sums do not say it to enough digits."""
    if "inside_square" not in found:
        return None
    if plan.kind == "queries":
        return float(found["inside_square"]) / plan.total
    if plan.kind == "ranks":
        assert plan.edges is not None
        (by_target,) = found["target_sums"].values()
        table = np.array([by_target[target] for target in plan.edges.tolist()])
        return _if_known(table, _between(table) / plan.total)
    table = np.zeros((plan.n_ranks, len(found["range_sums"][0][0])))
    total = float(found["inside_square"])
    for (low, high, *_), own in zip(found["ranges"], found["range_sums"], strict=True):
        ranks = range_ranks(plan, low, high)
        mine = np.zeros_like(own)
        np.add.at(mine, ranks - ranks[0], own)
        total -= _between(mine)
        np.add.at(table, ranks, own)
    return _if_known(table, (total + _between(table)) / plan.total)


def range_ranks(plan: Plan, low: float, high: float) -> Ints:
    """The ranks of the lowest targets of a block, of those in between, and of the highest: at most two apart."""
    found = plan.ranks(np.array([low, min(np.nextafter(low, np.inf), high), high]))
    assert found is not None
    return found


def _by_group(X: Any, weights: Floats, group: Ints, n_groups: int) -> Floats:
    """(groups, columns + 2): by group the weighted sum of its rows, of their squares, and their weight."""
    squares = np.bincount(group, weights * row_products(X, X), n_groups)
    return np.column_stack([group_sums(X, weights, group, n_groups), squares, np.bincount(group, weights, n_groups)])


def _between(table: Floats) -> float:
    """The sum over all pairs of rows of different groups of the product of their weights and their squared distance."""
    S, Q, W = table[:, :-2], table[:, -2], table[:, -1]
    mean = S.sum(axis=0) / W.sum()
    S, Q = S - np.outer(W, mean), Q - 2 * S @ mean + W * float(mean @ mean)
    total = S.sum(axis=0)
    return float(W.sum() * Q.sum() - W @ Q - total @ total + row_products(S, S).sum())


def _if_known(table: Floats, value: float) -> float | None:
    """The value, unless the rows lie so far from 0 that sums of squares have lost their spread."""
    S, Q, W = table[:, :-2].sum(axis=0), float(table[:, -2].sum()), float(table[:, -1].sum())
    around = Q - float(S @ S) / W
    return value if around > _ENOUGH_LEFT * Q else None
