"""The order of classes that nobody declared: the best of all orders, and which of its relations the data decide.

Pair accuracy does not know up from down: an order and its reverse rank the same pairs. Everything here is therefore up
to direction, which the caller chooses.

A relation is decided if all orders agree on it that cannot be told from the best one: the *confidence set* of Hansen,
Lunde and Nason (2011, The model confidence set), here with one simultaneous bound on the studentised differences.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from hullrank.model_selection._shared_solves import Floats, Order, SharedSolves

Booleans = NDArray[np.bool_]

EXACT_CLASSES = 7  # up to which all orders are rated: 2,520 of them
CANDIDATES = 300  # best orders that take part in the bootstrap
_BLOCK = 4_000_000  # random numbers held at a time (32 MB)


@dataclass(frozen=True)
class Discovery:
    """What the search found.

    ``orders`` are the candidates, best first, all read in the direction closer to the best; ``wins`` is the share of
    the resamples that each of them wins; ``plausible`` says which of them cannot be told from the best, ``is_none``
    whether that holds for having no order at all; ``relations[c, d]`` is the share of the resamples whose best order
    puts c below d.
    """

    orders: list[Order]
    wins: Floats
    plausible: Booleans
    is_none: bool
    relations: Floats

    def decided(self) -> list[tuple[int, int]]:
        """Pairs (lo, hi) of classes on whose relation all plausible orders agree."""
        n = len(self.orders[0])
        agreed = np.full((n, n), not self.is_none)
        for order, plausible in zip(self.orders, self.plausible, strict=True):
            if plausible:
                agreed &= _is_below(order)
        return [pair for pair in combinations(self.orders[0], 2) if agreed[pair]]


def discover(
    solves: SharedSolves, n_rows: int, confidence: float, n_resamples: int, rng: np.random.RandomState
) -> Discovery:
    """Rate all orders, or beyond `EXACT_CLASSES` classes those of a local search, and resample the best."""
    if solves.n_classes <= EXACT_CLASSES:
        for order in permutations(range(solves.n_classes)):
            solves.rate(order)
    else:
        for start in _starts(solves):
            _climb(solves, start)
    best, *others = solves.best(CANDIDATES)
    orders = [best, *(towards(order, best) for order in others)]
    rates = np.array([*(solves.rate(order) for order in orders), 0.5])
    effects = np.array([_effects(solves, order, n_rows) for order in orders])
    effects = np.vstack([effects, np.zeros_like(effects[:1])])  # the last candidate is that there is no order
    spread = np.linalg.norm(effects - effects[0], axis=1)
    wins, bound = _resample(rates, effects, spread, confidence, n_resamples, rng)
    n_folds = len(solves.folds)
    spread[-1] *= (1 + n_folds / max(n_folds - 1, 1)) ** 0.5  # folds share training rows: Nadeau and Bengio (2003)
    plausible = rates[0] - rates <= bound * spread
    relations = sum(share * _is_below(order) for order, share in zip(orders, wins[:-1], strict=True))
    return Discovery(orders, wins[:-1], plausible[:-1], bool(plausible[-1]), np.asarray(relations))


def _starts(solves: SharedSolves) -> list[Order]:
    """Orders of the class means along the three directions in which the means of the images vary most."""
    fold = solves.folds[0]
    present = np.unique(fold.codes)
    means = np.array([fold.images[fold.codes == c].mean(axis=0) for c in present])
    directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][:3]
    placed = np.zeros((solves.n_classes, len(directions)))
    placed[present] = means @ directions.T
    return [tuple(np.argsort(column, kind="stable").tolist()) for column in placed.T]


def _climb(solves: SharedSolves, order: Order) -> None:
    """Move one class at a time to wherever that raises the rate most, until nothing does."""
    while True:
        best = max(_moves(order), key=solves.rate)
        if solves.rate(best) <= solves.rate(order):
            return
        order = best


def _moves(order: Order) -> Iterator[Order]:
    """All orders that differ by the place of one class."""
    for k, moved in enumerate(order):
        rest = order[:k] + order[k + 1 :]
        for place in range(len(order)):
            if place != k:
                yield (*rest[:place], moved, *rest[place:])


def _effects(solves: SharedSolves, order: Order, n_rows: int) -> Floats:
    """Influences of all rows on an order's rate, and of one more row of every class, placed uniformly at random.

    Without that row a class of two rows that lie alike would seem to be known for certain. A uniform place has the
    standard deviation 1 / sqrt(12).
    """
    n = solves.n_classes
    rows = sum(np.bincount(fold.codes, minlength=n) for fold in solves.folds)
    lean = (2.0 * np.argsort(order) - (n - 1)) / (n - 1)  # share of the other classes below, less that above
    imagined = lean / (rows + 1) / 12**0.5 * 2.0 / n
    return np.concatenate([solves.influences(order, n_rows), imagined])


def _resample(
    rates: Floats, effects: Floats, spread: Floats, confidence: float, n_resamples: int, rng: np.random.RandomState
) -> tuple[Floats, float]:
    """Shares of the resamples that every candidate wins, and what bounds all differences to the best at once.

    A resample gives every row a normal multiplier. The bound is the quantile of the largest difference between the
    errors of the best and another candidate, in units of its standard deviation ``spread``.
    """
    won = np.zeros(len(rates))
    largest = []
    step = max(1, _BLOCK // effects.shape[1])
    apart = spread > 0
    for start in range(0, n_resamples, step):
        errors = rng.standard_normal((min(step, n_resamples - start), effects.shape[1])) @ effects.T
        won += np.bincount((rates + errors).argmax(axis=1), minlength=len(won))
        largest.append(((errors[:, :1] - errors[:, apart]) / spread[apart]).max(axis=1, initial=0.0))
    return won / n_resamples, float(np.quantile(np.concatenate(largest), confidence))


def towards(order: Order, other: Order) -> Order:
    """The order, read in the direction that is closer to another one."""
    n = len(order)
    return order if np.count_nonzero(_is_below(order) & _is_below(other)) * 4 >= n * (n - 1) else order[::-1]


def _is_below(order: Order) -> Booleans:
    """(K, K): which class lies below which."""
    place = np.argsort(order)
    return np.less.outer(place, place)
