"""From a direction in the best cell to weights that keep away from ties, so that equal data give equal weights."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.scores import linear_scores
from hullrank.exact.statement import Statement

Floats = NDArray[np.float64]

_WORK = 2e8
"""Products after which the search for the largest margin stops."""
_NEAR = 3e6
"""Entries of the differences that bound the margin: pairs far from a tie do not."""
_LONG = 1e3
"""Largest length of a pair, and that of a required sign, where typical pairs have length 1."""


def predicted(statement: Statement, w: Floats) -> Fraction:
    """F of the scores that a model with weights w predicts, in floating point, counted exactly."""
    scores = linear_scores(statement.X, w, statement.decimals)
    return statement.count(np.unique(scores, return_inverse=True)[1].ravel())


def raw_weights(statement: Statement, v: Floats) -> Floats:
    """A direction of the arrangement as weights of the raw columns, scaled to max |w_j| = 1."""
    w = v * (statement.scale.min() / statement.scale)
    largest = np.abs(w).max()
    return np.asarray(w / largest) if largest > 0 else w


def scaled_direction(statement: Statement, w: Floats) -> Floats:
    """Weights of the raw columns as a direction of the arrangement."""
    v = w * (statement.scale / statement.scale.max())
    length = np.abs(v).max()
    return np.asarray(v / length) if length > 0 else v


def widest_weights(statement: Statement, v: Floats, *, widest: bool = True) -> tuple[Floats, Fraction]:
    """Weights that win what the direction v wins, with the largest margin, and the value they predict.

    The margin is the smallest score difference of a won pair per unit of length, in units of the spread of the
    columns. From a v that is not optimal the step may win more pairs, and is repeated. Where the predicted scores, in
    floating point, do not order the rows as exact arithmetic does, the margin counts lost pairs as well. Without
    ``widest`` v itself is taken, which is quick.
    """
    best, value = raw_weights(statement, v), Fraction(-1)
    for candidate in _candidates(statement, v) if widest else [v]:
        w = raw_weights(statement, candidate)
        if not w.any() or not np.isfinite(w).all() or not statement.rule.allows(w):
            continue
        counted = predicted(statement, w)
        if counted > value and counted <= statement.recount(w):
            best, value = w, counted
    return best, value if value >= 0 else predicted(statement, best)


def _candidates(statement: Statement, v: Floats) -> Iterator[Floats]:
    """The widest direction of the cell of v first: the best of equal candidates is the first one."""
    D, length = _near_pairs(statement, v / np.linalg.norm(v))
    signs = statement.rule.signs_of(len(v))
    required = np.zeros((np.count_nonzero(signs), len(v)))
    required[np.arange(len(required)), np.flatnonzero(signs)] = _LONG * signs[signs != 0]
    v = _off_planes(D / length[:, None], v / np.linalg.norm(v))
    D = D * np.minimum(1.0, _LONG / length)[:, None]  # outliers must not hide the pairs that bound the margin
    wide = _widest(D, required, v)
    if wide is not None:
        yield from _without_traces(wide, signs)
        yield wide
    yield v
    side = np.where(D @ v > 0, 1.0, -1.0)
    inner = nearest_point(np.vstack([D * side[:, None], required]))
    if inner is not None:
        yield inner


def _near_pairs(statement: Statement, v: Floats) -> tuple[Floats, Floats]:
    """Differences of the pairs of unequal rows that are nearest to a tie for v, and their lengths."""
    values = statement.grid.values / statement.grid.spread
    scores = values @ v
    above, below = statement.above, statement.below
    gap = np.abs(scores[above] - scores[below])
    most = max(1, int(_NEAR / len(v)))
    if len(gap) > most:
        near = np.argpartition(gap, most)[:most]
        above, below = above[near], below[near]
    D = values[above] - values[below]
    size = np.abs(D).max(axis=1)
    D, size = D[size > 0], size[size > 0]
    return D, size * np.linalg.norm(D / size[:, None], axis=1)


def _widest(D: Floats, required: Floats, v: Floats) -> Floats | None:
    """The direction of largest margin over the pairs that v wins, then over those that that one wins, and so on."""
    found, won = None, -1
    while (count := int((D @ v > 0).sum())) > won:
        won = count
        wide = nearest_point(np.vstack([D[D @ v > 0], required]))
        if wide is None:
            return found
        found = v = wide
    return found


def _without_traces(v: Floats, signs: NDArray[np.int64]) -> Iterator[Floats]:
    """v without the entries that a required sign keeps barely off 0."""
    faint = (signs != 0) & (np.abs(v) < 10.0 / _LONG * np.abs(v).max())
    if faint.any() and not faint.all():
        yield np.where(faint, 0.0, v)


def nearest_point(D: Floats) -> Floats | None:
    """The point of conv{D_p} nearest to 0 (Wolfe's method), which is the direction of largest min_p D_p.w / |w|.

    None if the hull comes too near to 0 to tell. Large D get fewer iterations, which costs margin, not pairs.
    """
    if not len(D):
        return None
    corral = [int(np.argmin((D * D).sum(axis=1)))]
    weights = np.ones(1)
    size = np.abs(D).max()
    for _ in range(min(1000, max(20, int(_WORK / D.size)))):
        x = weights @ D[corral]
        products = D @ x
        entering = int(np.argmin(products))
        if products[entering] >= x @ x - 1e-13 * size * np.linalg.norm(x) or entering in corral:
            break
        corral, weights = _step(D, [*corral, entering], np.append(weights, 0.0))
    x = weights @ D[corral]
    return x if (D @ x).min() > 0 else None


def _step(D: Floats, corral: list[int], weights: Floats) -> tuple[list[int], Floats]:
    """Move to the affine minimiser of the corral, dropping the points that block the way."""
    while True:
        points = D[corral]
        k = len(corral)
        system = np.block([[points @ points.T, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        target = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0][:k]
        if (target > 1e-14).all():
            return corral, target
        falling = target <= 1e-14
        stop = min(1.0, float((weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300)).min()))
        weights = weights + stop * (target - weights)
        keep = weights > 1e-14
        if keep.all():
            keep[int(np.argmin(weights))] = False
        corral = [index for index, kept in zip(corral, keep, strict=True) if kept]
        weights = weights[keep] / weights[keep].sum()


def _off_planes(D: Floats, w: Floats) -> Floats:
    """Step off the planes of pairs whose opposite cancelled them: whichever side, one of the two is won."""
    tied = np.abs(D @ w) < 1e-11
    if not tied.any():
        return w
    rng = np.random.default_rng(0)
    best, won = w, (D @ w > 1e-11).sum()
    for size in 10.0 ** -np.repeat(np.arange(3, 11), 4):
        stepped = w + size * rng.normal(size=len(w))
        gained = (D @ stepped > 1e-11 * np.linalg.norm(stepped)).sum()
        if gained > won:
            best, won = stepped, gained
    return best
