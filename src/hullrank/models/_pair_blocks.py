"""What rankers over pairs make of rows in blocks: one pass that looks at them, and the statement that follows."""

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import check_queries, check_target
from hullrank.exceptions import HullrankError, NoComparablePairError
from hullrank.models._block_samples import checked_features, checked_weights
from hullrank.models._pair_spread import look_at_spread, mean_square, range_ranks
from hullrank.problem.block_pairs import FEW_RANKS, BlockPairStatement, PairSurvey, Plan, inside_pairs, pair_block
from hullrank.problem.block_rows import BlockRows, Sums
from hullrank.problem.charges import Charge
from hullrank.problem.equal_rows import DistinctCount, EqualRows, equal_rows, pair_keys
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.pairs import every_pair
from hullrank.problem.rows import ArrayRows

Floats = NDArray[np.float64]
Checked = tuple[Any, Floats, Floats, Any]

SAMPLE = 1 << 25  # bytes of the rows that are drawn from all blocks
_IN_SAMPLE = 8  # a sample takes at most the memory divided by this
_FEWEST = 1000  # fewest rows of a sample
_CELL = 8  # bytes of a float64
_BESIDE = 160  # bytes that a fit in memory needs for a row beside its numbers


def checked_block(block: tuple[Any, Any, Any, Any]) -> Checked:
    """Rows of positive weight, their targets as numbers, weights and queries (a task)."""
    X, y, weight, qid = block
    X = checked_features(X)
    if not X.shape[0]:
        return X, np.empty(0), np.empty(0), None if qid is None else np.empty(0)
    targets = check_target(X, y)
    check_queries(qid, X.shape[0])
    if targets.dtype.kind not in "biuf":
        raise HullrankError(
            "the targets of rows in blocks must be numbers, whose order does not depend on the block; give every grade "
            "a number (an ordered Categorical has them as y.cat.codes)"
        )
    weights = checked_weights(weight, X)
    rows = np.flatnonzero(weights)
    qid = None if qid is None else np.asarray(qid)[rows]
    return X[rows], targets[rows].astype(np.float64), weights[rows], qid


class Wanted(NamedTuple):
    """What the first look must find beside the numbers of rows and pairs: a sample, of which size, and a price."""

    n_blocks: int
    memory: int | None
    spread: bool = False  # the mean squared distance of a pair's samples, which C="scale" needs
    equal_queries: bool = False  # whether every query counts alike in it


def first_look(block: Checked, wanted: Wanted) -> Sums:
    """Numbers, moments, targets and queries of a block, and a sample of its rows or of its queries (a task)."""
    X, y, weights, qid = block
    sums: Sums = {"widths": [X.shape[1]], "sparse": [sp.issparse(X)], "with_queries": [qid is not None] * bool(len(y))}
    if not len(y):
        return sums
    query = check_queries(qid, len(y))
    rows, pairs, inside = inside_pairs(y, query, weights)
    ends = [y.min(), y.max()]
    parts = [y == ends[0], (y > ends[0]) & (y < ends[1]), (y == ends[1]) & (ends[1] > ends[0])]
    targets, codes = np.unique(y, return_inverse=True)
    few = len(targets) <= FEW_RANKS
    sums |= {
        "rows": len(y), "weight": float(weights.sum()), "moment": {X.shape[1]: ArrayRows(X).adjoint(weights)},
        "inside": inside, "n_inside": 0 if pairs is None else pairs.n_pairs,
        "n_queries": 0 if pairs is None else len(pairs.n_ranks),
        "queries": [] if qid is None else np.unique(qid).tolist(),
        "ranges": [(*ends, *((float(weights[part].sum()), int(part.sum())) for part in parts))],
        "many": 0 if few else 1, "distinct": DistinctCount.of(pair_keys(X, y, qid)),
        "by_target": dict(zip(targets.tolist(), np.bincount(codes, weights), strict=True)) if few else {},
        "count_by_target": dict(zip(targets.tolist(), np.bincount(codes).tolist(), strict=True)) if few else {},
    }  # fmt: skip
    if wanted.spread:
        sums |= look_at_spread(X, y, weights, query, (rows, pairs, inside), wanted.equal_queries and qid is not None)
    size = _sampled_rows(wanted.n_blocks, X.shape[1], wanted.memory)
    chosen = _drawn(query if qid is not None else None, len(y), size)
    sums["sample"] = [(X[chosen], y[chosen], weights[chosen], None if qid is None else qid[chosen])]
    return sums


def _drawn(query: Any | None, m: int, size: int) -> Any:
    """About ``size`` rows at random, in whole queries if there are any."""
    rng = np.random.default_rng(m)
    if size >= m:
        return np.arange(m)
    if query is None:
        return np.sort(rng.choice(m, size, replace=False))
    sizes = np.bincount(query)
    shuffled = rng.permutation(len(sizes))
    kept = np.zeros(len(sizes), dtype=bool)
    kept[shuffled[: np.searchsorted(np.cumsum(sizes[shuffled]), size) + 1]] = True
    return np.flatnonzero(kept[query])


def _sampled_rows(n_blocks: int, width: int, memory: int | None) -> int:
    """Rows that are drawn from every block."""
    room = SAMPLE if memory is None else min(SAMPLE, memory // _IN_SAMPLE)
    return -(-max(_FEWEST, room // (_CELL * max(1, width))) // max(1, n_blocks))


def merged_rows(rows: BlockRows, found: Sums, memory: int | None) -> EqualRows | None:
    """All rows of checked blocks, equal ones merged, where few are different: one pass.

    None where the memory does not hold them and what a fit needs beside them.
    """
    size = _CELL * max(1, found["widths"][0])
    room = SAMPLE // size if memory is None else min(SAMPLE // size, memory // (size + _BESIDE))
    room = max(_FEWEST, room)
    if found["distinct"].estimate > room:
        return None
    merged: EqualRows = rows.sum(equal_rows, room)["equal"]
    return None if merged.X is None else merged


def pairs_among(merged: EqualRows) -> int:
    """How many pairs there are among the rows that were merged."""
    query = check_queries(merged.qid, len(merged.y))
    return int(inside_pairs(merged.y, query, merged.counts.astype(np.float64))[2])


def spread_of_pairs(found: Sums, query_weight: str) -> float | None:
    """The mean squared distance of the samples of a pair; None where the first look could not tell."""
    return mean_square(found, _plan(found, query_weight == "equal")[0])


def state_in_blocks(rows: BlockRows, found: Sums, C: float, charge: Charge, query_weight: str) -> BlockPairStatement:
    """The problem over all pairs of rows in blocks, from what the first look at them found."""
    plan, n_pairs = _plan(found, query_weight == "equal")
    plan = plan._replace(smooth=charge.smooth)
    X, y, weights, qid = sample_of(found)
    kept, pairs = every_pair(y, check_queries(qid, len(y)), weights, query_weight, smooth=charge.smooth)
    sample = PairStatement(X[kept], pairs, C, charge, kept)
    mean = None if any(found["sparse"]) else found["moment"][X.shape[1]] / found["weight"]
    return BlockPairStatement(rows.map(pair_block, plan), plan, sample, C, charge, mean, n_pairs)


def why_stalled(statement: BlockPairStatement, found: PairSurvey) -> tuple[str, str]:
    """Why more passes do not close the gap that the best survey left open, and what to do."""
    if statement.plan.kind != "queries" and found.loose >= 0.5 * found.gap:
        cause = "scores of different blocks are compared in bins of limited number"
        return cause, "use fewer and larger blocks, a smaller C, or a larger tol"
    cause = "more passes did not lower it, as where rows have few different values and many pairs lie at the margin"
    return cause, "give more memory, in which equal rows are merged, a smaller C, or a larger tol"


def sample_of(found: Sums) -> tuple[Any, Floats, Floats, Any]:
    """The rows that were drawn: X, y, weights and queries (or None)."""
    X, y, weights, qid = zip(*found["sample"], strict=True)
    stacked = sp.vstack(X).tocsr() if any(found["sparse"]) else np.concatenate(X)
    return stacked, np.concatenate(y), np.concatenate(weights), None if qid[0] is None else np.concatenate(qid)


def check_look(found: Sums) -> None:
    """Refuse blocks that do not belong together."""
    if "rows" not in found:
        raise HullrankError("the blocks hold no row of positive weight")
    if len(set(found["widths"])) > 1:
        low, high = min(found["widths"]), max(found["widths"])
        raise HullrankError(f"one block has {low} columns and another {high}; all need the same")
    if len(set(found["with_queries"])) > 1:
        raise HullrankError("some blocks have queries and others have none")
    queries: list[Any] = found["queries"]
    if len(set(queries)) < len(queries):
        twice = next(each for each, times in Counter(queries).items() if times > 1)
        raise HullrankError(
            f"query {twice!r} has rows in two blocks, and its pairs cannot be formed there; bring every query into one "
            'block, in Dask by shuffle(on="qid"), in files and arrays by sorting the rows by query'
        )


def _plan(found: Sums, equal_queries: bool) -> tuple[Plan, int]:
    """How pairs are summed, and how many there are."""
    if any(found["with_queries"]):
        total = float(found["n_queries"]) if equal_queries else found["inside"]
        plan, n_pairs = Plan("queries", total, None, equal_queries), found["n_inside"]
    elif not found["many"] and len(found["by_target"]) <= FEW_RANKS:
        edges = np.array(sorted(found["by_target"]))
        total = _products([found["by_target"][target] for target in edges])
        plan = Plan("ranks", total, edges)
        n_pairs = int(_products([found["count_by_target"][target] for target in edges]))
    else:
        plan, n_pairs = _ranges(found)
    if not plan.total > 0:
        raise NoComparablePairError("no two samples can be compared: all targets are equal (in each query)")
    return plan, n_pairs


def _ranges(found: Sums) -> tuple[Plan, int]:
    """Blocks that are ranges of the target.

    A block has a rank of its own, since its inner pairs are summed by themselves; so has a target in which two blocks
    meet. Few ranks leave room for fine bins of scores.
    """
    blocks = sorted(found["ranges"])
    for (_, end, *_), (start, *_) in pairwise(blocks):
        if start < end:
            raise HullrankError(
                f"the target has more than {FEW_RANKS} different values, and blocks overlap (one reaches {end:g}, the "
                f"next begins at {start:g}); sort the rows by the target before they are cut into blocks, in Dask by "
                "sort_values, or give queries"
            )
    met = [start for (_, end, *_), (start, *_) in pairwise(blocks) if start == end]
    edges = np.unique([*(block[0] for block in blocks), *met, *np.nextafter(met, np.inf)])
    plan = Plan("ranges", 1.0, edges)
    total, n_pairs = found["inside"], found["n_inside"]
    by_rank = np.zeros((2, plan.n_ranks))
    for low, high, *parts in blocks:
        places = range_ranks(plan, low, high)
        own = np.zeros((2, 3))
        np.add.at(own.T, places - places[0], parts)
        np.add.at(by_rank.T, places, parts)
        total, n_pairs = total - _products(own[0]), n_pairs - _products(own[1])
    total, n_pairs = total + _products(by_rank[0]), n_pairs + _products(by_rank[1])
    return Plan("ranges", float(total), edges), int(n_pairs)


def _products(sizes: Any) -> float:
    """The sum of the products of every two of the sizes."""
    sizes = np.asarray(sizes, dtype=np.longdouble)
    return float(sizes @ (np.cumsum(sizes) - sizes))
