"""Ranking by pairs of samples: what is minimised.

Conventions
-----------
Samples i with score s_i = w.x_i, target and query; (i, j) is a pair when both belong to one query and i has the higher
target. Its weight is omega_ij = a_i a_j, scaled so that all weights sum to 1, and its difference d_ij = s_i - s_j.
The problem (the ranking SVM; in u = 2w the one-slack problem (9) of the swapped-pairs SVM) is

    min  P(w) = 1/2 |w|^2 + C sum_pairs omega_ij charge(margin - d_ij),      margin 1 (logistic: 0)

Its dual maximises margin sum alpha - 1/2 |sum alpha_ij (x_i - x_j)|^2 - sum C omega_ij conjugate(alpha_ij / C omega_ij)
over 0 <= alpha_ij <= C omega_ij largest (see ``charges``).

A *ramp* from margin ``low`` to ``high`` is r_ij = min(max(0, high - d_ij), high - low). Everything follows from ramps:
the squared hinge has alpha = 2 C omega r with low = -inf, high = 1; the hinge smoothed over a window of width h around
the margin (Huber hinge) has alpha = C omega r / h with low, high = 1 -+ h/2, which is feasible for the hinge itself. A
smooth charge needs none: its multipliers are alpha = C omega charge'(-d).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri

from hullrank.exceptions import NoComparablePairError
from hullrank.problem.all_pairs import AllPairs, comparable
from hullrank.problem.charges import Charge, require_known
from hullrank.problem.intervals import Penalty
from hullrank.problem.pair_sets import Floats, Ints, ListedPairs, Pairs, PairsAt
from hullrank.problem.rows import ArrayRows

if TYPE_CHECKING:
    from hullrank.problem.pairs_at_scores import AtScores

NORMAL = ndtri((np.arange(64) + 0.5) / 64)  # 64 equally likely values of a standard normal variable
LENGTHS = np.geomspace(0.25, 16.0, 37)  # multiples of the weights at which the slope of the objective is computed
LISTED_PAIRS = 2_000  # most pairs that are listed one by one, which the last digits of a small hinge problem need
SMOOTH = 4  # factor on LISTED_PAIRS for smooth charges, whose sums over unlisted pairs take dozens of passes


class PairCharge(NamedTuple):
    """All pairs charged at some scores.

    ``value`` is C sum omega charge(1 - d) (hinge: smoothed) and ``coef`` its gradient in the scores, so that the
    multipliers alpha place w(alpha) = -X'coef. ``complementarity`` bounds C sum omega charge(z) + conjugate - alpha z,
    and ``noise`` the rounding error of X'coef. ``at`` are the pairs at the scores, or None where they were dropped.
    """

    value: float
    coef: Floats
    complementarity: float
    noise: float
    at: Any


@dataclass(frozen=True)
class PairProblem:
    """Rows, their pairs, and the charge of a pair within the margin."""

    rows: ArrayRows
    pairs: Pairs
    C: float
    charge: Charge
    penalty: ClassVar[Penalty] = Penalty.L2
    shares_slacks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_known(self.charge, (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC), "sums over pairs")

    def charged(self, at: PairsAt, width: float) -> PairCharge:
        """All pairs charged at given scores, the hinge smoothed over a window of ``width``.

        The multipliers of the squared hinge and of a smooth charge are its gradient, hence complementary. In the window
        of the smoothed hinge alpha = C omega a and z = h (a - 1/2) with 0 <= a <= 1, so a pair adds
        C omega h (max(0, a - 1/2) - a^2 + a/2), which is at most C omega h / 16, and at most C omega h a (1 - a) / 2.
        """
        if self.charge.smooth:
            all_of = at.smooth(self.charge)
            noise = self.C * all_of.noise * self.rows.longest
            return PairCharge(self.C * all_of.value, self.C * all_of.coef, 0.0, noise, at)
        low, high, factor = self.window(width)
        ramp = at.ramp(low, high)
        loose = self.C * width * min(ramp.inside / 16, ramp.spread / 2) if self.charge is Charge.HINGE else 0.0
        noise = factor * ramp.noise * self.rows.longest
        return PairCharge(factor / 2 * ramp.square, factor * ramp.coef, loose, noise, at)

    def window(self, width: float) -> tuple[float, float, float]:
        """The margins (low, high) of the ramp of a kinked charge, and the factor that turns it into multipliers."""
        if self.charge is Charge.SQUARED_HINGE:
            return -np.inf, 1.0, 2 * self.C
        return 1 - width / 2, 1 + width / 2, self.C / width

    def curve(self, at: PairsAt, width: float, v: Floats) -> Floats:
        """The second derivative of the (smoothed) charge in the scores, times v."""
        if self.charge.smooth:
            return self.C * at.smooth_laplacian(self.charge, v)
        low, high, slope = self.window(width)
        return slope * at.laplacian(low, high, v)

    def among(self, positions: Ints, pairs: Pairs) -> "PairProblem":
        """The problem of the rows at some positions, stored by row, and of the pairs among them."""
        return replace(self, rows=self.rows.take(positions, by_column=False), pairs=pairs)

    def contrast(self, coef: Floats) -> Floats:
        """Sum of coef_i x_i for coefficients whose sum is 0 but for rounding, such as the gradient in the scores."""
        return self.rows.contrast(coef)

    def margin_equations(self, some: Ints, w: Floats) -> tuple[Floats, Floats]:
        """D D' and 1 - D w, with a row x_i - x_j in D for each of some of the listed pairs."""
        assert isinstance(self.pairs, ListedPairs)
        D = self.rows.take(self.pairs.hi[some]).X - self.rows.take(self.pairs.lo[some]).X
        D = D.toarray() if sp.issparse(D) else D
        return D @ D.T, 1 - D @ w

    def curvature(self, at: PairsAt, width: float) -> Floats:
        """The second derivative of the (smoothed) charge in the weights."""
        X = self.rows.X if sp.issparse(self.rows.X) else np.asarray(self.rows.X)
        if self.charge.smooth:
            return self.C * at.smooth_gram(self.charge, X)
        low, high, slope = self.window(width)
        return slope * at.gram(low, high, X)

    def curvature_among(self, at: "AtScores", width: float) -> tuple[Ints, Floats]:
        """The rows of the pairs in the window of a kinked charge, and its second derivative in their scores."""
        low, high, slope = self.window(width)
        rows, L = at.laplacian_among(low, high)
        return rows, slope * L

    def mean_difference(self) -> tuple[Floats, Floats]:
        """The pairs' means of x_i - x_j (i above j), and of (x_i - x_j)(x_i - x_j)'."""
        assert isinstance(self.pairs, AllPairs)
        X = self.rows.X.toarray() if sp.issparse(self.rows.X) else np.asarray(self.rows.X)
        return -self.rows.contrast(self.pairs.mean_contrast()), self.pairs.mean_gram(X, self.rows.centre)

    def derivatives_at_zero(self, width: float) -> tuple[float, float]:
        """First and second derivative of the (smoothed) charge of a pair whose samples have the same score."""
        if not self.charge.smooth:
            _, high, factor = self.window(width)
            return factor / self.C * high, factor / self.C
        zero = np.zeros(1)
        return float(self.charge.derivative(zero)[0]), float(self.charge.curvature(zero)[0])

    def likely_length(self, length: float, mean: float, square: float) -> float:
        """The multiple of weights w with the least objective, if the differences of the pairs' scores are normally
        distributed; ``length`` is |w|^2, ``mean`` and ``square`` are the means of d and d^2.

        The objective's slope along w, at the multiples ``LENGTHS``, is interpolated to 0.
        """
        d = mean + max(square - mean * mean, 0.0) ** 0.5 * NORMAL
        rise = self.charge.derivative(self.charge.margin - LENGTHS[:, None] * d)
        slopes = length * LENGTHS - self.C / len(d) * (rise @ d)
        return float(np.interp(0.0, slopes, LENGTHS))

    def guessed_diagonal(self, at: PairsAt, width: float) -> Floats:
        """About the second derivative of the (smoothed) charge in each weight alone."""
        if self.charge.smooth:
            return 2 * self.C * 0.25 * self.rows.column_variance
        low, high, slope = self.window(width)
        return 2.0 * slope * at.ramp(low, high).inside * self.rows.column_variance

    def exact_charge(self, charge: PairCharge) -> float:
        """The charge without smoothing."""
        return self.C * charge.at.hinge()[0] if self.charge is Charge.HINGE else charge.value


def pair_bounds(problem: PairProblem, w: Floats, charge: PairCharge) -> tuple[float, float]:
    """Objective of a pair problem at w, and a lower bound from the multipliers that ``charge`` gives to the pairs.

    They are feasible by construction, and with u = sum alpha_ij (x_i - x_j) = -X'coef the duality gap is
    1/2 |w - u|^2 plus the complementarity of the pairs: a sum without cancellation, rounding errors of u included.
    """
    apart = float(np.linalg.norm(w + problem.contrast(charge.coef))) + charge.noise
    primal = 0.5 * float(w @ w) + problem.exact_charge(charge)
    return primal, primal - 0.5 * apart * apart - charge.complementarity


def every_pair(
    targets: NDArray[Any], query: Ints, weights: Floats, query_weight: str = "pairs", *, smooth: bool = False
) -> tuple[Ints, Pairs]:
    """The rows that take part in a pair, and all pairs among them; listed where they are few (or ``smooth`` and not too
    many).

    Pairs weigh the product of their samples' weights; ``equal`` makes the total the same for every query.
    """
    rows, pairs = _comparable(targets, query, weights, query_weight == "equal")
    return rows, listed_if_few(pairs, smooth=smooth)


def listed_if_few(pairs: AllPairs, *, smooth: bool) -> Pairs:
    """The pairs one by one where they are few, or (of a ``smooth`` charge) not too many."""
    return pairs.listed() if pairs.n_pairs <= LISTED_PAIRS * (SMOOTH if smooth else 1) else pairs


def random_pairs(
    targets: NDArray[Any], query: Ints, per_sample: int, random_state: np.random.RandomState
) -> tuple[Ints, ListedPairs]:
    """The rows that take part in a pair, and for each of them ``per_sample`` random pairs (Herbrich et al.)."""
    rows, pairs = _comparable(targets, query, np.ones(len(targets)), False)
    return rows, pairs.draw(per_sample, random_state)


def _comparable(targets: NDArray[Any], query: Ints, weights: Floats, equal_queries: bool) -> tuple[Ints, AllPairs]:
    rows, pairs = comparable(targets, query, weights, equal_queries=equal_queries)
    if pairs is None:
        where = "all targets are equal" + (" in each query" if query.any() else "")
        raise NoComparablePairError(
            f"no two samples can be compared: {where} (n_samples={np.count_nonzero(weights)} of positive weight); pass "
            "targets with at least two different values, or leave out qid if all samples may be compared"
        )
    return rows, pairs


def C_from_paper(paper_C: float, n_pairs: int) -> float:
    """C for the hinge, from C of the swapped-pairs SVM's problem (9), which sums over pairs and has u = 2w."""
    return 4.0 * n_pairs * paper_C


def C_from_svm_rank(c: float, n_pairs: int, n_queries: int) -> float:
    """C for the hinge, from option -c of svm_rank, which sums over pairs and divides by the number of queries."""
    return c * n_pairs / n_queries


def C_from_liblinear(c: float, n_pairs: int) -> float:
    """C for the squared hinge, from option -c of liblinear's ranksvm, which sums over pairs."""
    return c * n_pairs
