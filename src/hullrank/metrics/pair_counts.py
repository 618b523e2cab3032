"""Weighted counts of sample pairs in O(m log m), without ever forming a pair.

Conventions
-----------
A pair is two samples i, j of one group with codes[i] > codes[j]; its weight is w_i w_j. It is *won* when
s_i > s_j, *tied* when s_i = s_j, else *lost*. With unit weights all sums are exact integers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.layout import concatenated_ranges

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEW_CODES = 12  # codes up to which running sums, one for each, are faster than going down their bits
_CHUNK = 4_000_000  # samples, repeated once per edge, that are looked at together


@dataclass(frozen=True)
class PairCounts:
    """Weight of the won, the tied and all pairs; one entry per group."""

    won: Floats
    tied: Floats
    total: Floats

    @property
    def lost(self) -> Floats:
        """Weight of the pairs in the wrong order, without the tied ones."""
        return np.maximum(self.total - self.won - self.tied, 0.0)


def count_pairs(codes: Ints, scores: Floats, weights: Floats, group: Ints | None = None) -> PairCounts:
    """All pairs with different codes within every group 0..G-1 (one group if None)."""
    group = np.zeros(len(codes), dtype=np.int64) if group is None else group
    total = pairs_apart(group, codes, weights)
    if len(total) == 1 and codes.max() < _FEW_CODES:
        order = np.argsort(scores)
        ordered = scores[order]
        if not np.any(ordered[1:] == ordered[:-1]):
            won = _won_by_few(codes[order], weights[order])
            return PairCounts(np.minimum(won, total), np.zeros(1), total)
    order = np.lexsort((-codes, scores))  # of tied scores the higher code comes first, so it wins nothing
    if len(total) > 1:
        order = order[np.argsort(group[order], kind="stable")]
    codes, scores, weights, group = codes[order], scores[order], weights[order], group[order]
    new_run = _starts(group) | _starts(scores)
    new_cell = np.flatnonzero(new_run | _starts(codes))
    tied_run = _cell_pairs((np.cumsum(new_run) - 1)[new_cell], np.add.reduceat(weights, new_cell))
    tied = sum_by(group[new_run], tied_run)
    return PairCounts(np.minimum(_won(codes, weights, group), total), tied, total)


def pairs_apart(group: Ints, codes: Ints, weights: Floats) -> Floats:
    """Weight of all pairs with different codes in every group 0..G-1."""
    n_codes = int(codes.max()) + 1
    n_cells = (int(group.max()) + 1) * n_codes
    key = group * n_codes + codes
    if n_cells > 8 * len(key):
        cells, key = np.unique(key, return_inverse=True)
    else:
        cells = np.arange(n_cells)
    return _cell_pairs(cells // n_codes, sum_by(key, weights, len(cells)))


def _cell_pairs(run: Ints, weights: Floats) -> Floats:
    """Weight of all pairs of different cells in every run; the runs ascend without a gap."""
    below = _exclusive_sum(weights)
    return sum_by(run, weights * (below - below[np.flatnonzero(_starts(run))][run]))


def _won_by_few(codes: Ints, weights: Floats) -> Floats:
    """Weight of the pairs i after j with codes[i] > codes[j], for few codes: one running sum for each of them."""
    won, lower, small = 0.0, np.zeros(len(codes)), codes.astype(np.int8)
    for code in range(1, int(codes.max()) + 1):
        lower += np.where(small == code - 1, weights, 0.0)
        won += float(np.cumsum(lower) @ np.where(small == code, weights, 0.0))
    return np.array([won])


def _won(codes: Ints, weights: Floats, group: Ints) -> Floats:
    """Weight of the pairs i after j with codes[i] > codes[j] in every group.

    Every two codes differ first in one bit. Going down the bits, the samples with the same higher bits form a node, in
    their old order; a sample whose bit is 1 wins against those of its node whose bit is 0 and that stand before it.
    """
    won = np.zeros(group[-1] + 1)
    index = np.arange(len(codes))
    node_start = np.maximum.accumulate(np.where(_starts(group), index, 0))
    for bit in reversed(range(int(codes.max()).bit_length())):
        one = (codes >> bit & 1).astype(bool)
        below = _exclusive_sum(np.where(one, 0.0, weights))
        won += sum_by(group, np.where(one, weights * (below - below[node_start]), 0.0))
        zeros_before = np.cumsum(~one) - ~one
        zeros_inside = zeros_before - zeros_before[node_start]
        is_last = np.append(_starts(node_start)[1:], True)
        zeros = np.zeros(len(codes), dtype=np.int64)  # per node, at its start: how many of its samples have bit 0
        zeros[node_start[is_last]] = (zeros_inside + ~one)[is_last]
        ones_start = node_start + zeros[node_start]
        place = np.where(one, ones_start + (index - node_start - zeros_inside), node_start + zeros_inside)
        moved = np.empty_like(place)
        moved[place] = index
        node_start = np.where(one, ones_start, node_start)[moved]
        codes, weights = codes[moved], weights[moved]
    return won


def count_edge_pairs(codes: Ints, scores: Floats, weights: Floats, edges: Ints) -> PairCounts:
    """Pairs whose two codes (lo, hi) are joined by an edge, all edges together."""
    order = np.lexsort((scores, codes))
    weights, codes = weights[order], codes[order]
    rank = np.unique(scores, return_inverse=True)[1][order]
    starts = np.searchsorted(codes, np.arange(max(codes.max(), edges.max(initial=0)) + 2))
    sizes = np.diff(starts)
    load = np.cumsum(sizes[edges].sum(axis=1))
    sums = np.zeros(3)
    for chunk in np.split(edges, np.flatnonzero(np.diff(load // _CHUNK)) + 1):
        sums += _edge_sums(chunk, starts, sizes, rank, weights)
    return PairCounts(sums[:1], sums[1:2], sums[2:])


def _edge_sums(edges: Ints, starts: Ints, sizes: Ints, rank: Ints, weights: Floats) -> Floats:
    """(won, tied, total) over some edges, by one search of all higher samples among all lower ones of their edge."""
    n_ranks = len(rank)
    lo, hi = (concatenated_ranges(starts[classes], sizes[classes]) for classes in edges.T)
    lo_edge, hi_edge = (np.repeat(np.arange(len(edges)), sizes[classes]) for classes in edges.T)
    lo_key, hi_key = lo_edge * n_ranks + rank[lo], hi_edge * n_ranks + rank[hi]
    below = np.concatenate([[0.0], np.cumsum(weights[lo])])
    edge_first = np.concatenate([[0], np.cumsum(sizes[edges[:, 0]])])
    left, right = np.searchsorted(lo_key, hi_key, "left"), np.searchsorted(lo_key, hi_key, "right")
    first, last = below[edge_first[hi_edge]], below[edge_first[hi_edge + 1]]
    return np.stack([below[left] - first, below[right] - below[left], last - first]) @ weights[hi]


def sum_by(group: Ints, values: Floats, n_groups: int = 0) -> Floats:
    """Sum of the values in every group 0..G-1, with at least ``n_groups`` groups."""
    return np.asarray(np.bincount(group, values, n_groups), dtype=np.float64)


def _starts(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a run of equal values starts."""
    return np.concatenate([[True], values[1:] != values[:-1]])


def _exclusive_sum(values: NDArray[Any]) -> NDArray[Any]:
    """Sum of all entries before each."""
    return np.concatenate([[0], np.cumsum(values)[:-1]])
