"""A bound for many dimensions, where cells are too many: disjoint sets of pairs that no direction wins together.

If sum_k l_k D_k = 0 with all l_k > 0, no w has D_k.w > 0 for every k: at least one of these pairs is lost. Sets that
share no pair add up, so F(w) <= top - (number of sets); with weights, a set takes the least weight left of its pairs.
A minimal set has one pair more than dimensions, so the bound is not below d / (d + 1) of the pairs.

Every set holds a pair that the best known direction v loses, so sets are sought around the lost pairs. What runs out
first are the pairs that v hardly wins: the lost pairs near a tie need them. So the worst lost pairs come first, and
members that v wins clearly are preferred, while a set is sought and once more when it is found: members are exchanged
for clearer wins (Magic 1000 x 10: 0.053 of the pairs without a preference, 0.070 with it, 0.080 with exchanges).
Pairs that vanish in some columns span fewer dimensions, and smaller sets are packed among them first.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_NARROWEST, _WIDER, _WORTH = 500, 4, 1.5
"""Pairs that a set is sought among in the first pass, and how many times more in a pass after it: most and least."""
_SAFE = 0.9
"""Share of the time left that the next pass is planned to take; a pass takes at most as much longer as it is wider."""
_CLEAR_WIN = 5.0
"""How much more pairs are wanted in sets the clearer v wins them: by the exponential of so many cosines."""
_DEAR = -2
"""Price of a pair in a set, as a power of how much it is wanted; members are exchanged for cheaper ones."""
_LEAST_SHARE = 0.02
"""Share of the pairs that must vanish in the same columns to be packed by themselves."""
_CHUNK = 2000
"""Lost pairs between two looks at the clock."""


class Packing:
    """Sets found so far; ``losses`` is the weight of pairs that every direction loses at least."""

    def __init__(self, arrangement: Arrangement, v: Floats, rank: int, seed: int = 0) -> None:
        self._arrangement, self._rank = arrangement, rank
        self._scores = arrangement.D @ v
        self._weight = np.where(arrangement.D.any(axis=1), arrangement.weight, 0.0)
        self._rng = np.random.default_rng(seed)
        self.losses = 0.0
        self.sets: Indices = np.empty((0, rank + 1), dtype=np.int64)
        self._subspaces = list(self._sorted_subspaces())

    def run(
        self, clock: Clock, seconds: float, passes: int, better: Callable[[float], None] = lambda losses: None
    ) -> None:
        """Pack up to so many times, with a wider choice while that pays and fits into the seconds; keep the best.

        ``better`` hears the losses of every pass that raises them, so that an interrupt loses only the pass it ends.
        """
        end, width = clock.elapsed + seconds, float(_NARROWEST)
        for _ in range(passes):
            begin = perf_counter()
            losses, sets = self._pass(clock, end, int(width))
            fits = _SAFE * (end - clock.elapsed) / max(perf_counter() - begin, 1e-9)
            if losses <= self.losses:
                return
            self.losses, self.sets = losses, sets
            better(losses)
            if width >= len(self._scores) or fits < _WORTH or clock.expired:
                return
            width *= min(_WIDER, fits)

    def _pass(self, clock: Clock, end: float, width: int) -> tuple[float, Indices]:
        left, losses, sets = self._weight.copy(), 0.0, [self.sets[:0]]
        for pairs, columns in self._subspaces:
            D = self._arrangement.D[np.ix_(pairs, columns)]
            group = _Group(D, self._scores[pairs], left[pairs], self._rng)
            for lost in group.chunks():
                if clock.expired or clock.elapsed > end:
                    break
                found, members = group.pack(lost, width)
                losses += found
                padded = np.full((len(members), self._rank + 1), -1)
                padded[:, : members.shape[1]] = np.where(members < 0, -1, pairs[members])
                sets.append(padded)
            left[pairs] = group.left
        return losses, np.concatenate(sets)

    def _sorted_subspaces(self) -> Iterator[tuple[Indices, Indices]]:
        """Pairs that vanish in the same columns, and the columns they depend on: fewest first, all pairs last."""
        filled = self._arrangement.D != 0
        code = np.zeros(len(filled), dtype=np.int64)
        for column in filled.T:  # beyond 63 columns some patterns share a code, and one of them is taken
            code = 2 * code + column
        _, first, counts = np.unique(code, return_index=True, return_counts=True)
        common = [filled[pair] for pair in first[counts >= _LEAST_SHARE * len(filled)] if filled[pair].any()]
        groups = [np.flatnonzero(~filled[:, ~pattern].any(axis=1)) for pattern in common]
        small = [(pairs, _independent(self._arrangement.part(pairs))) for pairs in groups if len(pairs) < len(filled)]
        small = [(pairs, columns) for pairs, columns in small if len(columns) < self._rank]
        yield from sorted(small, key=lambda group: len(group[1]))
        yield np.arange(len(filled)), _independent(self._arrangement, self._rank)


class _Group:
    """Pairs of one subspace: what is left of their weights, and the pool that members of sets are chosen from."""

    def __init__(self, D: Floats, scores: Floats, left: Floats, rng: np.random.Generator) -> None:
        self.D, self.left, self._rng = np.ascontiguousarray(D), left, rng
        self._E, cosine = _search_coordinates(D, scores)
        lost = np.flatnonzero((scores <= 0) & (left > 0))
        self._lost = lost[np.argsort(cosine[lost], kind="stable")]
        self._ids = rng.permutation(np.flatnonzero(left > 0))
        self._pool = np.ascontiguousarray(self._E[self._ids].T, dtype=np.float32)
        self._favour = np.exp(_CLEAR_WIN * cosine[self._ids]).astype(np.float32)
        self._price = self._favour**_DEAR
        self._where = np.full(len(D), -1)
        self._where[self._ids] = np.arange(len(self._ids))
        self._n_pool = len(self._ids)

    def chunks(self) -> Iterator[Indices]:
        """The lost pairs, worst first; weights above 1 are packed around several times."""
        for first in range(0, len(self._lost), _CHUNK):
            chunk = self._lost[first : first + _CHUNK]
            while len(chunk):
                before = self.left[chunk]
                yield chunk
                chunk = chunk[(self.left[chunk] > 0) & (self.left[chunk] < before)]

    def pack(self, lost: Indices, width: int) -> tuple[float, Indices]:
        """Losses and members of the sets around these pairs."""
        from hullrank.exact._packing_loops import pack

        sets = np.empty((len(lost), self.D.shape[1] + 1), dtype=np.int64)
        found, self._n_pool, losses = pack(
            lost,
            self._rng.random(len(lost)),
            min(width, len(self._ids)),
            self._pool,
            self._ids,
            self._where,
            self._favour,
            self._price,
            self.left,
            self._E,
            self.D,
            self._n_pool,
            sets,
        )
        return losses, sets[:found]


def _search_coordinates(D: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Unit rows, about isotropic, and their cosines with the direction of the scores."""
    spread, axes = np.linalg.eigh(D.T @ D)
    scale = np.sqrt(np.maximum(spread, 1e-12 * spread[-1]))
    E, v = D @ (axes / scale), axes.T @ (D.T @ scores) / scale  # v by least squares: scores = D v
    length = np.sqrt(np.einsum("pj,pj->p", E, E))
    E /= np.where(length > 0, length, 1.0)[:, None]
    return E, E @ (v / max(float(np.linalg.norm(v)), 1e-300))


def _independent(arrangement: Arrangement, rank: int | None = None) -> Indices:
    """Columns that all others depend on, in these pairs."""
    from scipy.linalg import qr

    sample = np.unique(np.linspace(0, len(arrangement.D) - 1, 5000).astype(np.intp))
    triangle, order = qr(arrangement.D[sample], mode="r", pivoting=True)
    filled = int(arrangement.D.any(axis=0).sum())
    if rank is None:
        size = np.abs(np.diag(triangle))
        full = len(size) >= filled and size[filled - 1] > 1e-6 * size[0]
        rank = filled if full else spanning(arrangement).shape[1]
    return np.asarray(order[:rank], dtype=np.int64)
