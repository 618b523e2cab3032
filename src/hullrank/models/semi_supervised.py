"""Any estimator with a kernel, learning from unlabelled rows as well."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval, StrOptions, num_samples
from hullrank.data import check_rows, check_target, check_weights, distinct_rows
from hullrank.exceptions import HullrankError, LabelError, ScaleWarning
from hullrank.models._constraints import LARGEST
from hullrank.models._scales import warn_of_scales
from hullrank.models._strength import choose_strength
from hullrank.models.base import fitting, hand_over_start, keep_start
from hullrank.problem.gram import Gram
from hullrank.problem.kernel_factor import basis_size
from hullrank.problem.kernels import resolve_gamma
from hullrank.problem.laplacian import (
    Features,
    InnerProduct,
    KernelCoordinates,
    KernelMap,
    LinearMap,
    check_graph,
    laplacian,
    neighbour_graph,
)

Floats = NDArray[np.float64]

MOST_PIVOTS = 2000  # rows that span the functions of a kernel; more rows enter through their values only


def _inner_has(name: str) -> Any:
    return lambda self: hasattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)


class SemiSupervised(MetaEstimatorMixin, BaseEstimator):
    """An estimator of hullrank that also learns from rows without a label, through the graph of nearest rows.

    Scores that differ between neighbouring rows, labelled or not, cost more: the penalty is a mean of 1/2 |f|^2 and
    1/2 f'Mf with the Laplacian M of the graph. That is the same problem in another inner product, so it is solved and
    certified by the estimator itself. It helps where the rows lie on a surface along which the label changes slowly
    (images, spectra, trajectories) and labels are few. Tables of unlike columns seldom gain.

    Parameters
    ----------
    estimator : estimator with the parameter ``kernel``
        `ConvexHullRanker`, `FixedMarginClassifier`, `SwappedPairsRanker` and so on, linear or with a kernel.
    strength : float or "auto", default="auto"
        The weight of the graph beside that of the norm, in units in which a random function pays as much by the one as
        by the other; 0 leaves the unlabelled rows out. "auto" tries 0, 0.1, 1, ..., 1000 on folds of the labelled rows,
        and takes 0 unless another is better by more than half a standard error of the difference.
    n_neighbors : int, default=10
        Nearest rows that every row is joined with.
    graph : sparse matrix or array of shape (n_rows, n_rows), default=None
        Symmetric weights between all rows, first the labelled and then the unlabelled ones, instead of nearest rows.
    warm_start : bool, default=False
        Start from where the last fit ended (another C or strength, the same samples), as far as the estimator does.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator; its rows are coordinates, or with a kernel the values of the changed kernel.
    strength_ : float
    cv_results_ : dict of arrays
        ``strength``, ``mean_test_score`` and ``std_test_score``; only with ``strength="auto"``.
    certificate_ : Certificate
        That of the estimator, for the whole problem.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    With a kernel functions are spanned by all rows, or beyond 2000 (or ``approximation``) of them by so many, chosen by
    pivoted Cholesky; the certificate is for the functions of that span.

    References
    ----------
    V. Sindhwani, P. Niyogi, M. Belkin: Beyond the point cloud. ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_swiss_roll
    >>> from hullrank import FixedMarginClassifier, SemiSupervised
    >>> X, t = make_swiss_roll(800, noise=0.3, random_state=0)
    >>> X, y = X / X.std(axis=0), np.digitize(t, [7, 9, 11])
    >>> few = np.arange(800) % 20 == 0
    >>> inner = FixedMarginClassifier(C=10, kernel="rbf", gamma=3.0)
    >>> alone = inner.fit(X[few], y[few]).score(X[~few], y[~few])
    >>> model = SemiSupervised(inner, strength=100.0).fit(X[few], y[few], unlabeled=X[~few])
    >>> model.score(X[~few], y[~few]) > alone
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator],
        "strength": [Interval(Real, 0, LARGEST, closed="both"), StrOptions({"auto"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "graph": ["sparse matrix", "array-like", None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        strength: Any = "auto",
        n_neighbors: int = 10,
        graph: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.estimator = estimator
        self.strength = strength
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.warm_start = warm_start

    @fitting
    def fit(
        self, X: Any, y: Any, *, unlabeled: Any = None, sample_weight: Any = None, qid: Any = None, groups: Any = None
    ) -> Self:
        """Learn from labelled rows and from rows without a label.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        unlabeled : {array-like, sparse matrix, data frame} of shape (n_unlabeled, n_features), default=None
            Rows whose label is not known.
        sample_weight, qid, groups : array-like of shape (n_samples,), default=None
            Of the labelled rows, where the estimator's ``fit`` takes them.

        Returns
        -------
        self : object
        """
        self._check_inner()
        rows = self._dense(X, reset=True)
        values = _checked_labels(rows, y)
        weights = check_weights(sample_weight, rows)
        warn_of_scales(self.estimator, rows, names=getattr(self, "feature_names_in_", None))
        nothing = unlabeled is None or num_samples(unlabeled) == 0
        others = np.empty((0, rows.shape[1])) if nothing else self._dense(unlabeled)
        counted = weights > 0 if self.graph is None else np.ones(len(rows), dtype=bool)
        every, counts = np.concatenate([rows[counted], others]), np.append(weights[counted], np.ones(len(others)))
        if len(every) < 2:
            raise HullrankError("there is 1 sample, labelled or not; a graph needs at least two")
        product = self._inner_product(every, counts)
        given = _given(sample_weight=sample_weight, qid=qid, groups=groups)
        if self.strength == "auto":

            def learned(strength: float) -> Floats:
                self._set_map(product, rows, strength)
                return self._learned(rows)

            self.strength_, self.cv_results_ = choose_strength(self._unfitted, learned, y, values, weights, given)
        else:
            self.strength_ = float(self.strength)
        self._set_map(product, rows, self.strength_)
        # The columns that the estimator sees are not those of the user.
        with warnings.catch_warnings(action="ignore", category=ScaleWarning):
            self.estimator_ = hand_over_start(self, self._unfitted()).fit(self._learned(rows), y, **given)
        keep_start(self, self.estimator_)
        self.certificate_ = self.estimator_.certificate_
        return self

    def _check_inner(self) -> None:
        kernel = getattr(self.estimator, "kernel", None)
        if kernel is None or kernel == "precomputed" or not hasattr(self.estimator, "state"):
            raise HullrankError(
                "estimator must have a certificate and a kernel ('linear', 'rbf' and so on, not 'precomputed'), as "
                f"FixedMarginClassifier has; got {type(self.estimator).__name__} with kernel={kernel!r}"
            )
        if kernel != "linear" and isinstance(self.estimator.gamma, str) and self.estimator.gamma == "ard":
            raise HullrankError(
                "gamma='ard' learns a scale for every column from labels, and SemiSupervised needs one kernel for all "
                "rows, labelled or not; give the estimator a number, 'scale' or 'auto' for gamma"
            )

    def _inner_product(self, rows: Floats, weights: Floats) -> InnerProduct:
        """The coordinates of all rows and their graph; equal rows are one node, unless a graph is given."""
        inner = self.estimator
        if self.graph is not None:
            nodes, graph = rows, check_graph(self.graph, len(rows))
        else:
            nodes = rows[distinct_rows(rows)[0]]
            graph = neighbour_graph(nodes, min(self.n_neighbors, len(nodes) - 1))
        if inner.kernel == "linear":
            return InnerProduct(Features(nodes), laplacian(graph))
        gamma = resolve_gamma(inner.gamma, rows, weights)
        rank = basis_size(inner.approximation)
        rank = MOST_PIVOTS if rank is None and len(nodes) > MOST_PIVOTS else rank
        coordinates = KernelCoordinates(Gram(nodes, inner.kernel, gamma, inner.degree, inner.coef0), rank)
        return InnerProduct(coordinates, laplacian(graph))

    def _unfitted(self) -> Any:
        """The estimator as it takes mapped rows."""
        changes = {} if self.estimator.kernel == "linear" else {"kernel": "precomputed", "approximation": None}
        return clone(self.estimator).set_params(**changes)

    def _set_map(self, product: InnerProduct, labelled: Floats, strength: float) -> None:
        """What turns rows into coordinates of the new inner product, or into values of the new kernel.

        The new kernel between two rows with coordinates a and b is a'(R'R)^-1 b.
        """
        R = product.root(strength)
        coordinates = product.coordinates
        if isinstance(coordinates, Features):
            functions = solve_triangular(R, np.eye(len(R)))
        else:
            unit = coordinates.functions(np.eye(len(R)))
            places = coordinates.map(unit).values(labelled)
            functions = unit @ solve_triangular(R, solve_triangular(R, places.T, trans="T"))
        self._map: LinearMap | KernelMap = coordinates.map(functions)

    def _learned(self, rows: Floats) -> Floats:
        """Labelled rows as the estimator learns from them; a kernel is symmetric to the last digit."""
        values = self._map.values(rows)
        pairwise = isinstance(self._map, KernelMap)
        return (values + values.T) / 2 if pairwise and values.shape[0] == values.shape[1] else values

    def _dense(self, X: Any, *, reset: bool = False) -> Floats:
        """Checked rows as an array: coordinates of rows and graph are dense anyway."""
        rows = check_rows(self, X, reset=reset)
        return rows.toarray() if sp.issparse(rows) else rows

    def _embedded(self, X: Any) -> Floats:
        return self._map.values(self._dense(X))

    def score_samples(self, X: Any) -> Floats:
        """Place every row of X, seen or new, on the score line; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.estimator_.score_samples(self._embedded(X))

    def predict(self, X: Any, *, groups: Any = None) -> NDArray[Any]:
        """What the estimator predicts for rows of X: labels, or scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, where the estimator's ``predict`` takes them.

        Returns
        -------
        answer : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._embedded(X), **_given(groups=groups))

    @available_if(_inner_has("predict_class"))
    def predict_class(self, X: Any, *, groups: Any = None) -> NDArray[Any]:
        """The class whose interval (of its own group) is nearest to the score of each row of X."""
        check_is_fitted(self)
        return self.estimator_.predict_class(self._embedded(X), **_given(groups=groups))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None, groups: Any = None) -> float:
        """That of the estimator: accuracy, or pair accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        qid, groups : array-like of shape (n_samples,), default=None
            Queries and groups of the rows, where the estimator's ``score`` takes them.

        Returns
        -------
        score : float in [0, 1]
        """
        check_is_fitted(self)
        given = _given(sample_weight=sample_weight, qid=qid, groups=groups)
        return self.estimator_.score(self._embedded(X), y, **given)

    def state(self, X: Any, y: Any, **metadata: Any) -> Any:
        """The problem that the fitted estimator solves on labelled rows: the same in another inner product.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **metadata : dict

        Returns
        -------
        statement : Statement
        """
        check_is_fitted(self)
        return self.estimator_.state(self._learned(self._dense(X)), y, **metadata)

    def candidate(self, statement: Any) -> Any:
        """The fitted attributes as a point of the stated problem.

        Parameters
        ----------
        statement : Statement
            What ``state`` returned for the labelled rows.

        Returns
        -------
        point : Point
        """
        return self.estimator_.candidate(statement)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, lowest first."""
        return self.estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _given(**metadata: Any) -> dict[str, Any]:
    """What was passed at all, to hand on."""
    return {name: values for name, values in metadata.items() if values is not None}


def _checked_labels(rows: Floats, y: Any) -> NDArray[Any]:
    """Labels of labelled rows; missing ones are answered by where such rows belong."""
    try:
        return check_target(rows, y)
    except LabelError as error:
        if "contains NaN" not in str(error):
            raise
        raise LabelError(f"{error}, or pass them as unlabeled= instead of in X") from error
