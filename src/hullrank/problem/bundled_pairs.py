"""Pairs of very many ranks: a tree over bundles of neighbouring ranks, which stays in cache, and the pairs inside them.

A tree over millions of ranks waits for memory at every step. Here it has a leaf for every ``ROWS`` rows or so, and
sums over the partners in other bundles; those in the same one are few enough to be visited one by one.
"""

from dataclasses import dataclass
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
    which has ``n_bundles`` of them at the most.
    """

    rows: Ints
    query: Ints
    rank: Ranks
    weights: Floats
    bundle: Ranks
    starts: Ints
    n_bundles: Ints


def bundled(pairs: "AllPairs", rank: Ints) -> Bundles:
    """Bundles of whole ranks; ``rank`` are the ranks of the pairs, counted through all queries.

    Ranks whose first rows are in the same ``ROWS`` rows of their query are one bundle, so that a row has at most that
    many lower partners in it, whatever the number of rows of the same rank.
    """
    from hullrank.problem._bundle_loops import sort_ranks

    sizes, rows = np.bincount(rank), np.empty(len(rank), dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    sort_ranks(rank, first.copy(), rows)
    bundle = (first - np.repeat(pairs.starts[:-1], pairs.n_ranks)) // ROWS
    is_first = np.diff(bundle, prepend=-1) != 0
    is_first[np.cumsum(pairs.n_ranks)[:-1]] = True
    return Bundles(
        rows,
        np.repeat(np.arange(len(pairs.sizes)), pairs.sizes),
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        pairs.weights[rows],
        np.repeat(bundle.astype(np.int32), sizes),
        np.append(first[is_first], len(rank)),
        (pairs.sizes - 1) // ROWS + 1,
    )


class BundledAtScores(AtScores):
    """All pairs at given scores, the ranks bundled; ``place`` are the rows' places by query and rank, in the order of
    scores."""

    def _arranged(self, scores: Floats) -> Arranged:
        bundles = self.pairs.bundles
        self.ranked_scores = scores[bundles.rows]
        self.place, found = by_score(self.ranked_scores, bundles.query, self.pairs.starts)
        self.bundle = bundles.bundle[self.place]
        return bundles.rows[self.place], found, bundles.weights[self.place]

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        from hullrank.problem._bundle_loops import add_inner_sums
        from hullrank.problem._pair_loops import partner_sums

        bundles, inner = self.pairs.bundles, self._inner_sums(margin, v)

        def sums(way: int) -> Floats:
            found, counters = np.empty((2, len(v))), np.empty((int(bundles.n_bundles.max()), 2))
            among = self.bundle, self.pairs.starts, bundles.n_bundles, self.weights, v
            partner_sums(way, self.scores, margin, *among, counters, found)
            add_inner_sums(0 if way > 0 else 2, self.place, inner, found)
            return found

        higher, lower = in_threads(sums, (1, -1))
        return higher, lower

    def _inner_sums(self, margin: float, v: Floats) -> Floats:
        """Sums over the partners in the same bundle, by query and rank."""
        from hullrank.problem._bundle_loops import inner_sums

        bundles, out = self.pairs.bundles, np.empty((len(v), 4))
        ranked = np.empty_like(v)
        ranked[self.place] = v
        values = bundles.rank, bundles.weights, ranked
        room_for = int(np.diff(bundles.starts).max())

        def sums(starts: Ints) -> None:
            inner_sums(starts, self.ranked_scores, margin, *values, np.empty((2, room_for)), out)

        middle = len(bundles.starts) // 2
        list(in_threads(sums, (bundles.starts[: middle + 1], bundles.starts[middle:])))
        return out
