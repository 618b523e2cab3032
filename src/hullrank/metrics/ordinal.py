"""How far predicted ranks lie from the true ones, and a bound on how far they will lie."""

from collections.abc import Hashable, Sequence
from math import floor, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank._sklearn import num_samples
from hullrank.data import check_target, check_weights, declared_categories, encode_labels
from hullrank.data.labels import unique_inverse
from hullrank.exceptions import HullrankError, LabelError

Floats = NDArray[np.float64]


def mean_absolute_rank_error(
    y: Any, pred: Any, *, classes: Sequence[Hashable] | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean distance between the predicted and the true rank (Shashua and Levin 2002, section 2: empirical risk).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    pred : array-like of shape (n_samples,)
        Predicted labels.
    classes : sequence of labels, default=None
        All labels from lowest to highest: the rank of a label is its place there. By default the categories of an
        ordered Categorical or Enum do this; without them numbers are taken as ranks themselves, and strings are ranked
        alphabetically with a warning.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    error : float, at least 0

    Examples
    --------
    >>> from hullrank.metrics import mean_absolute_rank_error
    >>> mean_absolute_rank_error(["low", "mid", "high"], ["mid", "mid", "low"], classes=["low", "mid", "high"])
    1.0
    """
    errors, weights = _rank_errors(y, pred, classes, sample_weight)
    return float(np.average(errors, weights=weights))


def accuracy_within(
    y: Any,
    pred: Any,
    k: float = 1,
    *,
    classes: Sequence[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of samples whose predicted rank is at most k away from the true one; k = 0 is accuracy.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    pred : array-like of shape (n_samples,)
        Predicted labels.
    k : float, default=1
        Largest distance that counts as right.
    classes : sequence of labels, default=None
        All labels from lowest to highest; see `mean_absolute_rank_error`.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    share : float in [0, 1]

    Examples
    --------
    >>> from hullrank.metrics import accuracy_within
    >>> accuracy_within([1, 2, 3, 4], [2, 2, 1, 4], k=1)
    0.75
    """
    if not k >= 0:
        raise HullrankError(f"k={k!r} is no distance; pass a number of ranks that is at least 0")
    errors, weights = _rank_errors(y, pred, classes, sample_weight)
    return float(np.average(errors <= k, weights=weights))


def margin_risk_bound(
    rank_errors: float,
    n_samples: int,
    n_classes: int,
    *,
    margin: float,
    radius: float,
    n_features: float = inf,
    confidence: float = 0.95,
) -> float:
    """Bound on the expected rank error of a large-margin ranker from its training errors and its margin.

    With m = ``rank_errors``, l = ``n_samples``, k = ``n_classes`` and probability 1 - eta = ``confidence``
    (Shashua and Levin 2002, section 2, after Vapnik):

        risk <= m/l + eps (k-1)/2 (1 + sqrt(1 + 4m / (l eps (k-1))))
        eps = 4 (h (ln(2l/h) + 1) - ln(eta/4)) / l
        h <= min(floor(radius^2 / Delta^2), n_features) + 1

    Delta is half the ``margin``, the distance of a boundary to the middle between two classes, as in Vapnik's theorem.
    (The paper writes Delta for the whole distance b_j - a_j, with which the bound on h fails: the corners of a regular
    tetrahedron can be split in all ways with a margin of 1.15 radii, although floor(1 / 1.15^2) + 1 = 1.)

    Parameters
    ----------
    rank_errors : float
        Sum of the rank errors |f(x) - y| of the training samples that the margin does not separate rightly.
    n_samples : int
        Number of training samples.
    n_classes : int
        Number of ranks.
    margin : float
        Distance between the two closest neighbouring classes along the unit normal; 2/|w| for a fixed margin.
    radius : float
        Radius of a ball that contains all samples.
    n_features : float, default=inf
        Dimension of the space; infinite for most kernels.
    confidence : float, default=0.95
        Probability with which the bound holds.

    Returns
    -------
    bound : float
        Values of n_classes - 1 or more say nothing; infinite when h reaches n_samples, where the bound does not apply.

    Examples
    --------
    >>> from hullrank.metrics import margin_risk_bound
    >>> round(margin_risk_bound(0, 100_000, 3, margin=0.5, radius=1.0), 3)
    0.014
    """
    if n_samples < 1 or n_classes < 2 or rank_errors < 0:
        raise HullrankError("margin_risk_bound needs at least one sample, two classes, and rank_errors of at least 0")
    if not (margin > 0 and radius > 0 and n_features > 0 and 0 < confidence < 1):
        raise HullrankError("margin, radius and n_features must be positive, and confidence between 0 and 1")
    dimension = min(floor(min((2 * radius / margin) ** 2, 1e300)), n_features) + 1
    if dimension >= n_samples:
        return inf
    doubt = log(4 / (1 - confidence))
    epsilon = 4 * (dimension * (log(2 * n_samples / dimension) + 1) + doubt) / n_samples
    scale, empirical = epsilon * (n_classes - 1), rank_errors / n_samples
    return empirical + scale / 2 * (1 + sqrt(1 + 4 * empirical / scale))


def _rank_errors(y: Any, pred: Any, classes: Sequence[Hashable] | None, sample_weight: Any) -> tuple[Floats, Floats]:
    guesses = check_target(np.empty(num_samples(pred)), pred)
    truth = check_target(guesses, y)
    weights = check_weights(sample_weight, guesses)
    declared = classes if classes is not None else declared_categories(y) or declared_categories(pred)
    if declared is not None:
        place = {label: i for i, label in enumerate(declared)}
        ranks = [_places(values, place) for values in (truth, guesses)]
    elif truth.dtype.kind in "biuf" and guesses.dtype.kind in "biuf":
        ranks = [truth.astype(np.float64), guesses.astype(np.float64)]
    else:
        ranks = np.split(encode_labels(None, np.concatenate([truth, guesses])).codes.astype(np.float64), 2)
    return np.abs(ranks[0] - ranks[1]), weights


def _places(values: NDArray[Any], place: dict[Any, int]) -> Floats:
    distinct, inverse = unique_inverse(values)
    unknown = [label for label in distinct.tolist() if label not in place]
    if unknown:
        raise LabelError(f"{unknown[0]!r} is not among the classes {list(place)}; add it to classes")
    return np.array([place[label] for label in distinct.tolist()], dtype=np.float64)[inverse]
