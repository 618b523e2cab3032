"""Pairs of very many ranks: a tree over bundles of neighbouring ranks, which stays in cache, and the pairs inside them.

A tree over millions of ranks waits for memory at every step. Here it has a leaf for every ``ROWS`` rows or so, and
sums over the partners in other bundles; those in the same one are few enough to be visited one by one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hullrank._threads import in_threads
from hullrank.problem.pair_sets import Floats, Ints
from hullrank.problem.pairs_at_scores import Arranged, AtScores, by_score

if TYPE_CHECKING:
    from hullrank.problem.all_pairs import AllPairs

Ranks = NDArray[np.int32]
ROWS = 64  # rows in a bundle


@dataclass(frozen=True)
class Bundles:
    """The rows by query and rank: their numbers, queries, ranks, weights and bundles, in that order.

    ``starts`` are the first row of every bundle and the row after the last. Bundles are numbered within their query,
    which has ``n_bundles`` of them at the most. All scores share ``room``, seven numbers for every row, since fresh
    memory takes as long as a pass over it.
    """

    rows: Ints
    query: Ints
    rank: Ranks
    weights: Floats
    bundle: Ranks
    starts: Ints
    n_bundles: Ints
    room: Floats


def bundled(pairs: "AllPairs", rank: Ints) -> Bundles:
    """Bundles of whole ranks (see ``bundle_ranks``); ``rank`` are those of the pairs, counted through all queries."""
    from hullrank.problem._bundle_loops import bundle_ranks

    m, n_bundles = len(rank), (pairs.sizes - 1) // ROWS + 1
    rows, ranked, bundle = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    place, starts = np.zeros(pairs.n_ranks.sum() + 1, dtype=np.int64), np.empty(n_bundles.sum() + 1, dtype=np.int64)
    found = bundle_ranks(rank, pairs.starts, pairs.n_ranks, ROWS, place, rows, ranked, bundle, starts)
    query = pairs.query if len(pairs.sizes) == 1 else pairs.query[rows]
    return Bundles(rows, query, ranked, pairs.weights[rows], bundle, starts[: found + 1], n_bundles, np.empty((7, m)))


class BundledAtScores(AtScores):
    """All pairs at given scores, the ranks bundled; ``place`` are the places, by query and rank, of the sorted rows."""

    def _arranged(self, scores: Floats) -> Arranged:
        bundles = self.pairs.bundles
        self.ranked_scores, words = scores[bundles.rows], bundles.room[:2].view(np.int64)
        place, found = by_score(self.ranked_scores, bundles.query, self.pairs.starts, words)
        self.bundle = bundles.bundle[place]
        return place, found, bundles.weights[place]

    @cached_property
    def order(self) -> Ints:
        """The numbers of the sorted rows."""
        return self.pairs.bundles.rows[self.place]

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        """Sums over the higher partners, which the next call overwrites, and over the lower ones."""
        from hullrank.problem._bundle_loops import add_inner_sums
        from hullrank.problem._pair_loops import partner_sums

        bundles, inner = self.pairs.bundles, self._inner_sums(margin, v)

        def sums(way: int) -> Floats:
            found = bundles.room[5:] if way > 0 else np.empty((2, len(v)))
            counters = np.empty((int(bundles.n_bundles.max()), 2))
            among = self.bundle, self.pairs.starts, bundles.n_bundles, self.weights, v
            partner_sums(way, self.scores, margin, *among, counters, found)
            add_inner_sums(0 if way > 0 else 2, self.place, inner, found)
            return found

        higher, lower = in_threads(sums, (1, -1))
        return higher, lower

    def _inner_sums(self, margin: float, v: Floats) -> Floats:
        """Sums over the partners in the same bundle, by query and rank."""
        from hullrank.problem._bundle_loops import inner_sums

        bundles = self.pairs.bundles
        inner, ranked = bundles.room[:4].reshape(-1, 4), self._ranked(v)
        room_for = int(np.diff(bundles.starts).max())

        def sums(starts: Ints) -> None:
            values = bundles.rank, bundles.weights, ranked
            inner_sums(starts, self.ranked_scores, margin, *values, np.empty((2, room_for)), inner)

        middle = len(bundles.starts) // 2
        list(in_threads(sums, (bundles.starts[: middle + 1], bundles.starts[middle:])))
        return inner

    def _ranked(self, values: Floats) -> Floats:
        """Values of the sorted rows by query and rank, in memory that is shared."""
        ranked = self.pairs.bundles.room[4]
        ranked[self.place] = values
        return ranked

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.pairs.bundles.rows] = self._ranked(values)
        return out
