"""Coordinates in which boxes bound tightly: w = T v with the near-tied pairs isotropic and along the axes."""

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.integers import spans_at_most

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 20
"""Directions in more dimensions than this are only searched; no bound is computed for them."""
_BANDWIDTH = 0.3
_SAMPLE = 50_000


def spanning(arrangement: Arrangement) -> Floats:
    """(d, r) orthonormal columns, as many as dimensions that the pairs span, which is decided in integers.

    Floating point proposes r, and the exact rank is at most r if all pairs lie in the span of r of them. If that
    fails, r grows.
    """
    into = _row_space(arrangement)
    spread, axes = np.linalg.eigh((D := arrangement.D @ into).T @ D)
    rank = int((spread > 1e-14 * spread[-1]).sum())
    while rank < min(len(spread), MOST_DIMENSIONS) and not _confined(arrangement, rank):
        rank += 1
    return np.asarray(into @ axes[:, ::-1][:, :rank])


def _row_space(arrangement: Arrangement) -> Floats:
    """Orthonormal columns that span all differences of rows, fewer than features where rows are few."""
    values = arrangement.grid.values / arrangement.grid.spread
    if len(values) > values.shape[1] or len(values) < 2 or arrangement.D.shape[1] != values.shape[1]:
        return np.eye(arrangement.D.shape[1])
    return np.asarray(np.linalg.qr((values[1:] - values[0]).T)[0])


def _confined(arrangement: Arrangement, rank: int) -> bool:
    """Whether all pairs lie in the span of ``rank`` of them, exactly."""
    from scipy.linalg import qr

    sample = np.unique(np.linspace(0, len(arrangement.D) - 1, 400).astype(np.intp))
    pivots = qr(arrangement.D[sample].T, mode="r", pivoting=True)[1][:rank]
    return spans_at_most(arrangement.vectors, sample[pivots])


def whitening(D: Floats, basis: Floats) -> Floats:
    """(d, r) T such that the rows D T have the same spread in every direction of the basis."""
    inside = D @ basis
    spread, axes = np.linalg.eigh(inside.T @ inside / len(D))
    return basis @ (axes / np.sqrt(np.maximum(spread, 1e-8 * spread.max())))


def near_ties(arrangement: Arrangement, v: Floats) -> Floats:
    """Weights of the pairs that stay undecided around v, summing to 1."""
    k = np.exp(-0.5 * ((arrangement.D @ v) / _BANDWIDTH) ** 2) * arrangement.weight
    return k / k.sum()


def centred_coordinates(arrangement: Arrangement, v: Floats, rng: np.random.Generator) -> Floats:
    """(d, d) T with second column along v, for boxes around v: near-tied pairs isotropic, then as sparse as can be."""
    if len(arrangement.D) > _SAMPLE:
        arrangement = arrangement.part(rng.choice(len(arrangement.D), _SAMPLE, replace=False))
    T, v = _local_whitening(arrangement, v)
    local = arrangement.transformed(T)
    return T @ _sparse_axes(local.D, near_ties(local, v), v, rng)


def _local_whitening(arrangement: Arrangement, v: Floats, iterations: int = 10) -> tuple[Floats, Floats]:
    """Make the near-tied unit differences isotropic in the complement of v, by fixed-point iteration."""
    d = len(v)
    T, v = np.eye(d), v / np.linalg.norm(v)
    for _ in range(iterations):
        local = arrangement.transformed(T)
        k = near_ties(local, v)
        B = _complement(v, np.eye(d))
        spread, axes = np.linalg.eigh(B.T @ ((local.D.T * k) @ local.D * d) @ B)
        A = np.outer(v, v) + B @ (axes / np.sqrt(np.maximum(spread, 1e-6 * spread.max()))) @ (B @ axes).T
        T, v = T @ A, np.linalg.solve(A, v)
        v /= np.linalg.norm(v)
    return T, v


def _sparse_axes(D: Floats, k: Floats, v: Floats, rng: np.random.Generator, starts: int = 4, rounds: int = 6) -> Floats:
    """Orthogonal Q with second column v; the others minimise the mean of sum_j |D_j| over near-tied pairs.

    That sum is the half-width of a pair on a box; Jacobi rotations of pairs of axes, from several starts.
    """
    d = len(v)
    rows = D[rng.choice(len(D), min(len(D), 2500), p=k)]
    best, chosen = np.inf, _complement(v, np.eye(d))
    for start in range(starts):
        seed = np.eye(d)[:, rng.permutation(d)] if start == 0 else rng.normal(size=(d, d))
        B = _rotated(rows, _complement(v, seed), rounds)
        size = np.abs(rows @ B).sum()
        if size < best:
            best, chosen = size, B
    return np.column_stack([chosen[:, 0], v, chosen[:, 1:]])


def _rotated(rows: Floats, B: Floats, rounds: int) -> Floats:
    angle = np.linspace(0, np.pi / 2, 31)[:-1]
    cosine, sine = np.cos(angle), np.sin(angle)
    Y = rows @ B
    for _ in range(rounds):
        for a in range(B.shape[1]):
            for b in range(a):
                x, y = Y[:, a, None], Y[:, b, None]
                best = int(np.argmin((np.abs(x * cosine + y * sine) + np.abs(y * cosine - x * sine)).sum(axis=0)))
                turn = np.array([[cosine[best], -sine[best]], [sine[best], cosine[best]]])
                Y[:, [a, b]] = Y[:, [a, b]] @ turn
                B[:, [a, b]] = B[:, [a, b]] @ turn
    return B


def _complement(v: Floats, seed: Floats) -> Floats:
    """Orthonormal basis of the complement of v, near the columns of seed."""
    return np.linalg.qr(np.column_stack([v, seed]))[0][:, 1 : len(v)]
