"""Pairs of rows that were given one by one, alone or beside the pairs that targets make."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError, NoComparablePairError
from hullrank.problem.all_pairs import comparable
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import Floats, Ints, ListedPairs, Pairs, PairsAt, Ramp, Smooth
from hullrank.problem.pairs import LISTED_PAIRS, SMOOTH


class Part(NamedTuple):
    """Pairs among some rows (``rows``, ascending), and the share of the total weight that they have."""

    pairs: Any
    rows: Ints
    share: float


@dataclass(frozen=True)
class JoinedPairs:
    """Two sets of pairs over ``n_rows`` rows as one; sums over pairs are sums over the sets."""

    parts: tuple[Part, ...]
    n_rows: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return sum(part.pairs.n_pairs for part in self.parts)

    def at(self, scores: Floats) -> PairsAt:
        """The pairs at given scores."""
        return _JoinedAt(self, [part.pairs.at(scores[part.rows]) for part in self.parts])

    def forget(self) -> None:
        """Free what was kept of the last scores."""
        for part in self.parts:
            part.pairs.forget()

    def sample(self, size: int, seed: int) -> tuple[Ints, Any] | None:
        """A sample of the pairs that are not listed, with all that are."""
        drawn = [(part.pairs.sample(size, seed), part) for part in self.parts]
        if all(found is None for found, _ in drawn):
            return None
        parts = [part if found is None else Part(found[1], part.rows[found[0]], part.share) for found, part in drawn]
        rows = np.unique(np.concatenate([part.rows for part in parts]))
        moved = tuple(part._replace(rows=np.searchsorted(rows, part.rows)) for part in parts)
        return rows, JoinedPairs(moved, len(rows))

    def mean_square(self, X: Any, mean: Floats) -> float:
        """The mean squared distance of the pairs' rows, each pair by its weight."""
        return float(sum(part.share * part.pairs.mean_square(X[part.rows], mean) for part in self.parts))


class _JoinedAt:
    def __init__(self, joined: JoinedPairs, at: list[PairsAt]) -> None:
        self.joined, self.at = joined, at

    def hinge(self, margin: float = 1.0) -> tuple[float, Floats]:
        found = [at.hinge(margin) for at in self.at]
        return self._sum([value for value, _ in found]), self._spread([coef for _, coef in found])

    def violated(self, margin: float) -> float:
        return self._sum([at.violated(margin) for at in self.at])

    def ramp(self, low: float, high: float) -> Ramp:
        found = [at.ramp(low, high) for at in self.at]
        square, inside, spread, noise = (self._sum([getattr(each, name) for each in found]) for name in _SUMS)
        return Ramp(square, self._spread([each.coef for each in found]), inside, spread, noise)

    def laplacian(self, low: float, high: float, v: Floats) -> Floats:
        return self._spread([at.laplacian(low, high, v[part.rows]) for at, part in self._each])

    def gram(self, low: float, high: float, X: Any) -> Floats:
        return np.add.reduce([part.share * at.gram(low, high, X[part.rows]) for at, part in self._each])

    def smooth(self, charge: Charge) -> Smooth:
        found = [at.smooth(charge) for at in self.at]
        value, noise = (self._sum([getattr(each, name) for each in found]) for name in ("value", "noise"))
        return Smooth(value, self._spread([each.coef for each in found]), noise)

    def smooth_laplacian(self, charge: Charge, v: Floats) -> Floats:
        return self._spread([at.smooth_laplacian(charge, v[part.rows]) for at, part in self._each])

    def smooth_gram(self, charge: Charge, X: Any) -> Floats:
        return np.add.reduce([part.share * at.smooth_gram(charge, X[part.rows]) for at, part in self._each])

    @property
    def _each(self) -> list[tuple[PairsAt, Part]]:
        return list(zip(self.at, self.joined.parts, strict=True))

    def _sum(self, values: list[float]) -> float:
        return float(sum(part.share * value for part, value in zip(self.joined.parts, values, strict=True)))

    def _spread(self, coefs: list[Floats]) -> Floats:
        """Values by row of every part, as values by row of the whole."""
        total = np.zeros(self.joined.n_rows)
        for part, coef in zip(self.joined.parts, coefs, strict=True):
            total[part.rows] += part.share * coef
        return total


_SUMS = ("square", "inside", "spread", "noise")


def check_pairs(pairs: Any, n_rows: int) -> tuple[Ints, Ints, Floats]:
    """Rows that win, rows that lose, and weights, from pairs (winner, loser) or triples with a weight."""
    try:
        table = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise HullrankError(f"pairs must be numbers of rows (winner, loser), or with a weight ({error})") from error
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise HullrankError(
            f"pairs must have two columns (winner, loser), or a third with weights; got shape {table.shape}"
        )
    rows = table[:, :2]
    odd = ~((rows >= 0) & (rows < n_rows) & (rows == np.floor(rows))).all(axis=1)
    if odd.any():
        k = int(odd.argmax())
        raise HullrankError(
            f"pair {k} is {tuple(rows[k].tolist())}, and rows are whole numbers from 0 to {n_rows - 1}; negative "
            "numbers do not count from the end"
        )
    hi, lo = rows.T.astype(np.int64)
    if (hi == lo).any():
        k = int((hi == lo).argmax())
        raise HullrankError(f"pair {k} compares row {hi[k]} with itself; leave it out")
    weights = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    if not (np.isfinite(weights) & (weights >= 0)).all():
        k = int((np.isfinite(weights) & (weights >= 0)).argmin())
        raise HullrankError(f"pair {k} has the weight {weights[k]}; weights of pairs are finite and not negative")
    return hi, lo, weights


def given_pairs(hi: Ints, lo: Ints, pair_weights: Floats, weights: Floats) -> tuple[Ints, ListedPairs, float]:
    """Rows that take part in a given pair of positive weight, these pairs among them (weights sum to 1), their total.

    A pair weighs its own weight times those of its two rows.
    """
    omega = pair_weights * weights[hi] * weights[lo]
    kept = omega > 0
    if not kept.any():
        raise NoComparablePairError("no pair of positive weight was given; pass at least one (winner, loser)")
    hi, lo, omega = hi[kept], lo[kept], omega[kept]
    rows = np.unique(np.concatenate([hi, lo]))
    total = float(omega.sum())
    return rows, ListedPairs(np.searchsorted(rows, hi), np.searchsorted(rows, lo), omega / total, len(rows)), total


def joined_pairs(
    targets: NDArray[Any],
    query: Ints,
    weights: Floats,
    given: tuple[Ints, Ints, Floats],
    query_weight: str = "pairs",
    *,
    smooth: bool = False,
) -> tuple[Ints, Pairs]:
    """Rows in any pair, and the pairs that targets make (within queries) together with given ones.

    All pairs count by their weight; with ``query_weight="equal"`` the given pairs together weigh as much as a query.
    """
    equal = query_weight == "equal"
    rows, made = comparable(targets, query, weights, equal_queries=equal)
    given_rows, listed, given_total = given_pairs(*given, weights)
    if made is None:
        return given_rows, listed
    total = float(made.query.max() + 1) if equal else float(weights[rows[0]] / made.weights[0]) ** 2
    given_total = 1.0 if equal else given_total
    shares = total / (total + given_total), given_total / (total + given_total)
    every = np.union1d(rows, given_rows)
    places = np.searchsorted(every, rows), np.searchsorted(every, given_rows)
    if made.n_pairs + listed.n_pairs <= LISTED_PAIRS * (SMOOTH if smooth else 1):
        return every, _one_list([made.listed(), listed], places, shares, len(every))
    return every, JoinedPairs((Part(made, places[0], shares[0]), Part(listed, places[1], shares[1])), len(every))


def _one_list(
    lists: list[ListedPairs], places: tuple[Ints, Ints], shares: tuple[float, float], n_rows: int
) -> ListedPairs:
    moved = [
        replace(pairs, hi=place[pairs.hi], lo=place[pairs.lo], weights=share * pairs.weights)
        for pairs, place, share in zip(lists, places, shares, strict=True)
    ]
    hi, lo, weights = (np.concatenate([getattr(each, name) for each in moved]) for name in ("hi", "lo", "weights"))
    return ListedPairs(hi, lo, weights, n_rows)


def pair_accuracy(scores: Floats, hi: Ints, lo: Ints, pair_weights: Floats, sample_weight: Any = None) -> float:
    """The share of the weight of given pairs whose winner has the higher score; ties count as wrong."""
    weights = np.ones(len(scores)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    omega = pair_weights * weights[hi] * weights[lo]
    if not omega.sum() > 0:
        raise NoComparablePairError("no pair of positive weight was given; pass at least one (winner, loser)")
    return float(omega @ (scores[hi] > scores[lo]) / omega.sum())
