"""The order graph chosen by cross-validation: how to state a known order, or which order the classes have."""

import warnings
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval
from hullrank.data import check_rows, check_target, check_weights, distinct_labels, encode_labels
from hullrank.exceptions import HullrankError, LabelError, UndecidedOrderWarning
from hullrank.model_selection._order_discovery import Discovery, discover, towards
from hullrank.model_selection._order_variants import rate_variants, simplest, variants
from hullrank.model_selection._scoring import deal
from hullrank.model_selection._search import BestEstimator
from hullrank.model_selection._shared_solves import SharedSolves
from hullrank.models.base import fitting
from hullrank.models.hull import ConvexHullRanker
from hullrank.models.intervals import place_labels
from hullrank.order import OrderGraph
from hullrank.order.builders import quoted
from hullrank.problem.gram import Gram
from hullrank.problem.kernel_factor import factor_kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
MOST_COLUMNS = 500  # of the rows by which orders are rated; more, or a kernel, are reduced to so many coordinates


class OrderGraphSearchCV(BestEstimator):
    """Choose the order graph of a `ConvexHullRanker` by cross-validation, or discover the order of the classes.

    With ``order`` given, the same order is stated in several ways: as a chain, with edges that skip a class, as a full
    graph (each with slack per edge), as a chain with slack per sample, and with any two neighbours left incomparable
    ("merged"). All are rated by pair accuracy over the given order, and the one with the fewest thresholds within one
    standard error of the best is taken.

    Without, the order itself is sought. Every order of up to seven classes (beyond that, those of a local search) is
    rated by cross-validated pair accuracy, averaged over the pairs of classes, of a ridge regression on the places of
    the classes; all orders share its solves. Orders that cannot be told from the best form a confidence set, and
    classes on whose relation these disagree stay incomparable. A direction cannot be found, since an order and its
    reverse rank the same pairs: of the two, the one that agrees more with the order of the labels is taken.

    Parameters
    ----------
    estimator : ConvexHullRanker, default=None
        What is fitted in the end, and in every fold if the order is given. None is one with its defaults.
    order : OrderGraph, str, list of edges or levels, "chain", or None, default=None
        The known order; None seeks it.
    cv : int, cross-validation splitter or iterable of splits, default=None
        As for `ConvexHullRankerCV`; None is five folds.
    confidence : float, default=0.9
        Probability with which the confidence set holds the best order; only if the order is sought.
    n_resamples : int, default=1000
        Size of the bootstrap that says how sure the order is.
    random_state : int, RandomState instance or None, default=0
        Seed of the bootstrap.
    verbose : int, default=0
        Whether to report how much is rated.

    Attributes
    ----------
    order_ : OrderGraph
        The graph that was chosen, or what is decided of the order that was found.
    cv_results_ : dict of arrays
        The candidates (of a sought order: the best 300, best first): ``params``, ``name``, ``mean_test_score``,
        ``std_test_score``, ``split0_test_score`` and so on, ``rank_test_score``; ``n_thresholds`` if the order is
        given, else ``wins`` (share of the resamples that the order wins) and ``plausible`` (whether it is in the
        confidence set).
    best_index_ : int
        Place of the chosen candidate in ``cv_results_``.
    best_params_ : dict
        Parameters of the estimator that was fitted.
    best_score_ : float
        Mean pair accuracy of the best candidate.
    best_estimator_ : ConvexHullRanker
        Fitted to all rows with ``best_params_``; it has the certificate.
    classes_ : ndarray of shape (n_classes,)
        The classes from lowest to highest (of a sought order: of the best one, decided or not).
    margin_ : float
        How much better the best order is rated than the next; this and the following only if the order is sought.
    confidence_ : float
        The share of the resamples that the best order wins.
    relations_ : ndarray of shape (n_classes, n_classes)
        The share of the resamples in which ``classes_[i]`` lies below ``classes_[j]``.
    separability_ : ndarray of shape (n_classes, n_classes)
        Cross-validated area under the curve between any two classes.
    undecided_ : list of pairs of labels
        Classes that are incomparable in ``order_``.
    n_splits_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    hullrank.plots.OrderSearchDisplay : The candidates as a picture.

    Notes
    -----
    Relations are decided by the model confidence set of Hansen, Lunde and Nason (2011) with multiplier resamples of the
    rows left out.

    Examples
    --------
    >>> from hullrank import OrderGraphSearchCV
    >>> from hullrank.datasets import discretize
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> names = ["oak", "elm", "ash"]  # lowest first
    >>> search = OrderGraphSearchCV().fit(X, [names[g] for g in discretize(y, 3)])
    >>> search.order_.labels
    ('ash', 'elm', 'oak')
    """

    _base = ConvexHullRanker
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "order": "no_validation",  # type: ignore[dict-item]
        "cv": ["cv_object"],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        cv: Any = None,
        confidence: float = 0.9,
        n_resamples: int = 1000,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.confidence = confidence
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Self:
        """Rate the candidates on the folds, choose, and fit the choice on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; without ``order`` whatever order they have is not used but for the direction.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight is a repetition, in learning and in rating.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never split between learning and rating.

        Returns
        -------
        self : object
        """
        inner = self._checked_inner("only that takes any order graph")
        rows = check_rows(self, X, reset=True, sparse=inner.kernel != "precomputed")
        values = check_target(rows, y)
        weights = check_weights(sample_weight, rows)
        folds = deal(self.cv, inner, values, groups)
        self.n_splits_ = len(folds)
        if self.order is None:
            self._discover(rows, values, weights, folds)
        else:
            self._compare(rows, y, values, weights, folds)
        given = {} if sample_weight is None else {"sample_weight": weights}
        self.best_estimator_ = clone(inner).set_params(**self.best_params_, classes=None).fit(X, y, **given)
        return self

    def _compare(self, X: Any, y: Any, values: NDArray[Any], weights: Floats, folds: list[tuple[Rows, Rows]]) -> None:
        """Rate every way to state the given order by the estimator itself."""
        classes = self._inner.classes if self.order in ("chain", "full") else None
        order = place_labels(y, values, classes, self.order)[1]
        tried = variants(order)
        scores = rate_variants(self._inner, tried, order, (X, values, weights), folds, self.verbose)
        params = [{"order": each.graph, "slack": each.slack} for each in tried]
        sizes = np.array([each.n_thresholds for each in tried])
        self.cv_results_ = _table([each.name for each in tried], params, scores) | {"n_thresholds": sizes}
        self.best_index_ = simplest(scores, sizes)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.order_ = self.best_params_["order"]
        self.classes_ = encode_labels(y, values, order.labels).classes

    def _discover(self, X: Any, values: NDArray[Any], weights: Floats, folds: list[tuple[Rows, Rows]]) -> None:
        """Rate all orders by shared solves, and keep what is decided of the best."""
        labels = np.array(sorted(distinct_labels(values), key=_sortable), dtype=object)
        codes = encode_labels(values, values, labels.tolist()).codes
        _check_sizes(labels, np.bincount(codes[weights > 0], minlength=len(labels)), folds, codes)
        kept = [(train[weights[train] > 0], test[weights[test] > 0]) for train, test in folds]
        solves = SharedSolves.of(self._coordinates(X, weights), codes, weights, kept)
        rng = check_random_state(self.random_state)
        found = discover(solves, len(codes), self.confidence, self.n_resamples, rng)
        self._store(found, solves, labels)

    def _coordinates(self, X: Any, weights: Floats) -> Floats:
        """Rows in which the estimator's score is linear: X itself, or coordinates of the kernel's space."""
        inner = self._inner
        if inner.kernel == "linear" and isinstance(X, np.ndarray) and X.shape[1] <= MOST_COLUMNS:
            return X
        space = None if inner.kernel == "linear" else clone(inner)._space(X, weights)
        return factor_kernel(Gram(X, "linear") if space is None else space.gram, MOST_COLUMNS).L

    def _store(self, found: Discovery, solves: SharedSolves, labels: NDArray[Any]) -> None:
        best = list(towards(found.orders[0], tuple(range(len(labels)))))
        direction = 1 if best[0] == found.orders[0][0] else -1
        graphs = [OrderGraph.chain(labels[list(order)[::direction]].tolist()) for order in found.orders]
        scores = np.array([solves.by_fold(order) for order in found.orders])
        names = [" < ".join(map(quoted, graph.labels)) for graph in graphs]
        self.cv_results_ = _table(names, [{"order": graph} for graph in graphs], scores)
        self.cv_results_ |= {"wins": found.wins, "plausible": found.plausible}
        self.best_index_, self.best_score_ = 0, solves.rate(found.orders[0])
        runner_up = solves.rate(found.orders[1]) if len(found.orders) > 1 else 0.5
        self.margin_, self.confidence_ = self.best_score_ - runner_up, float(found.wins[0])
        shares = found.relations if direction == 1 else found.relations.T
        self.relations_, self.separability_ = shares[np.ix_(best, best)], solves.separability[np.ix_(best, best)]
        self.classes_ = np.array(labels[best].tolist())
        decided = [tuple(labels[list(pair[::direction])].tolist()) for pair in found.decided()]
        self.order_ = OrderGraph.from_edges(decided, labels=labels[best].tolist()).reduction()
        known = set(decided)
        self.undecided_ = [pair for pair in combinations(labels[best].tolist(), 2) if pair not in known]
        self.best_params_ = {"order": self.order_ if decided else graphs[0]}
        if self.undecided_:
            _warn_undecided(self.undecided_, nothing=not decided)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Pair accuracy over the order that was chosen."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight=sample_weight)


def _table(names: list[str], params: list[dict[str, Any]], scores: Floats) -> dict[str, Any]:
    """The candidates under the names of GridSearchCV's ``cv_results_``."""
    known = scores[:, np.isfinite(scores).all(axis=0)]  # folds without two rows to compare have no score
    means = known.mean(axis=1)
    found: dict[str, Any] = {"name": np.array(names, dtype=object), "params": params}
    found |= {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    ranks = rankdata(-means, method="min").astype(np.int32)
    return found | {"mean_test_score": means, "std_test_score": known.std(axis=1), "rank_test_score": ranks}


def _check_sizes(labels: NDArray[Any], sizes: NDArray[np.intp], folds: list[tuple[Rows, Rows]], codes: Rows) -> None:
    if len(labels) < 2:
        raise LabelError(f"y has only one class, {labels[0]!r}; an order needs two")
    for label, size in zip(labels, sizes, strict=True):
        if size < 2:
            raise LabelError(
                f"class {label!r} has {size} row of positive weight; seeking the order needs two of every class"
            )
    for train, _ in folds:
        missing = np.setdiff1d(np.arange(len(labels)), codes[train])
        if len(missing):
            raise HullrankError(
                f"a fold has no row of class {labels[missing[0]]!r} to learn from; use other splits, or more rows"
            )


def _warn_undecided(pairs: list[tuple[Any, Any]], *, nothing: bool) -> None:
    shown = ", ".join(f"{lo!r} and {hi!r}" for lo, hi in pairs[:3]) + (" and others" if len(pairs) > 3 else "")
    text = (
        "these data decide nothing about the order of the classes; the estimator was fitted to the best order, which "
        "may be chance"
        if nothing
        else f"these data do not decide the order of {shown}; they stay incomparable"
    )
    warnings.warn(f"{text}; declare the order if you know it", UndecidedOrderWarning, stacklevel=4)


def _sortable(label: Any) -> tuple[bool, Any]:
    """Numbers by value, everything else as it prints."""
    number = isinstance(label, Real)
    return (not number, label if number else str(label))
