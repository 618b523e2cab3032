"""How a fold is rated, and how rows are dealt to folds."""

from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, check_cv

from hullrank.data import check_queries
from hullrank.exceptions import HullrankError
from hullrank.metrics import get_scorer, scoring_order
from hullrank.metrics.pairwise import PairAccuracy, QueryAccuracy
from hullrank.model_selection._pair_bounds import PairBounds
from hullrank.models.base import QueryRankerMixin, RankerMixin
from hullrank.models.margins import MarginClassifier
from hullrank.models.pairs import SwappedPairsRanker

Rows = NDArray[np.intp]
N_FOLDS = 5
# how the names of scorers begin that are at most 0 or 1
_ERRORS = ("neg_", "swapped_pairs", "mean_absolute_rank_error")
_SHARES = (
    "accuracy", "balanced_accuracy", "f1", "precision", "recall", "jaccard", "roc_auc", "average_precision",
    "matthews_corrcoef", "r2", "wmw", "kendall_tau_b", "ndcg", "mean_average_precision", "mean_reciprocal_rank",
)  # fmt: skip
_RANKED = RankerMixin.score, QueryRankerMixin.score, SwappedPairsRanker.score  # the own scores of rankers


class Scorer:
    """A scorer that is handed the metadata (weights, queries) that it takes, and no other.

    ``scoring`` is None (the estimator's own ``score``), a name that scikit-learn or `hullrank.metrics.get_scorer`
    knows, or a function of a fitted estimator, X and y.
    """

    def __init__(self, scoring: Any, estimator: Any) -> None:
        self.is_own, self.classifies = scoring is None, is_classifier(estimator)
        self.rate, self.most = _found(scoring, estimator), _most(scoring, estimator)
        takes = estimator.score if self.is_own else getattr(self.rate, "metric", self.rate)
        self.names = set(signature(takes).parameters)
        if getattr(self.rate, "_accept_sample_weight", bool)():
            self.names.add("sample_weight")

    @property
    def needs_labels(self) -> bool:
        """Whether more than the scores of a ranker is asked for."""
        return not self.is_own or self.classifies

    def __call__(self, model: Any, X: Any, y: Any, metadata: dict[str, Any]) -> float:
        """Rate a fitted model; greater is better."""
        value = self.rate(model, X, y, **{name: each for name, each in metadata.items() if name in self.names})
        if not np.isscalar(value):
            raise HullrankError(f"scoring must return one number, got {type(value).__name__}")
        return float(value)  # type: ignore[arg-type]


class Rating:
    """A scorer for the rows that a fold leaves out, to which many models are fitted in turn.

    What an estimator's own score asks of the targets alone (their codes, their order) is found once.
    """

    def __init__(self, scorer: Scorer, X: Any, y: Any, metadata: dict[str, Any]) -> None:
        self.scorer, self.rows = scorer, (X, y, metadata)
        self._prepared: Callable[[Any], float] | None = None

    def __call__(self, model: Any) -> float:
        """Rate a fitted model; greater is better."""
        if not self._is_usual(model):
            return self.scorer(model, *self.rows)
        if self._prepared is None:
            self._prepared = self._prepare(model, *self.rows)
        return self._prepared(model)

    def bounds(self, model: Any) -> PairBounds | None:
        """What bounds the scores of a ranker over pairs; None where another score is asked for."""
        if "qid" not in self.scorer.names or not self._is_usual(model):
            return None
        _, y, metadata = self.rows
        return PairBounds(y, **metadata)

    def _is_usual(self, model: Any) -> bool:
        return self.scorer.is_own and _has_usual_score(model)

    def _prepare(self, model: Any, X: Any, y: Any, metadata: dict[str, Any]) -> Callable[[Any], float]:
        """The score as a function of the fitted model, of which all have the classes and the order of ``model``."""
        weights = metadata.get("sample_weight")
        if self.scorer.classifies:
            return _accuracy(model, X, y, weights)
        accuracy: PairAccuracy | QueryAccuracy
        if "qid" in self.scorer.names:
            accuracy = QueryAccuracy(y, **metadata)
        else:
            accuracy = PairAccuracy(y, scoring_order(model, y), weights)
        return lambda fitted: accuracy(fitted._scores(X))


def _has_usual_score(model: Any) -> bool:
    """Whether a model's ``score`` is that of all classifiers or rankers of its kind, and not one of its own."""
    kind = type(model)
    if is_classifier(model):
        return kind.score is MarginClassifier.score and kind.predict is MarginClassifier.predict
    return kind.score in _RANKED and kind.predict is RankerMixin.predict


def _accuracy(model: Any, X: Any, y: Any, weights: Any) -> Callable[[Any], float]:
    """The share of labels that are right; ``model`` is any that is fitted to the same classes."""
    place = {label: code for code, label in enumerate(model.classes_.tolist())}
    labels, numbers = np.unique(np.asarray(y).ravel(), return_inverse=True)
    codes = np.array([place.get(label, -1) for label in labels.tolist()])[numbers]

    def rate(model: Any) -> float:
        found = np.searchsorted(model.thresholds_, model._scores(X), side="left")
        return float(np.average(found == codes, weights=weights))

    return rate


def _found(scoring: Any, estimator: Any) -> Any:
    """A function of a fitted estimator, X and y; of None scikit-learn makes the estimator's own ``score``."""
    if isinstance(scoring, str):
        with suppress(HullrankError):
            return get_scorer(scoring)
    return check_scoring(estimator, scoring=scoring)


def _most(scoring: Any, estimator: Any) -> float:
    """The largest score that there can be; infinite where that is not known."""
    if scoring is None:
        usual = ClassifierMixin.score, MarginClassifier.score, *_RANKED
        return 1.0 if type(estimator).score in usual else np.inf
    if isinstance(scoring, str) and scoring.startswith(_ERRORS):
        return 0.0
    return 1.0 if isinstance(scoring, str) and scoring.startswith(_SHARES) else np.inf


def deal(cv: Any, estimator: Any, y: NDArray[Any], groups: Any) -> list[tuple[Rows, Rows]]:
    """Rows to learn from and rows to rate on, fold by fold; groups stay whole.

    Where ``cv`` is a number (None: 5): by groups if there are any; by class, so that all folds have the same shares, if
    the estimator classifies or every value of y occurs in all folds; else at random with a fixed seed.
    """
    if groups is not None:
        groups = check_queries(groups, len(y))
    codes = np.unique(y, return_inverse=True)[1]
    if cv is None or isinstance(cv, Integral):
        n = N_FOLDS if cv is None else int(cv)
        if groups is not None:
            cv = GroupKFold(n)
        elif is_classifier(estimator) or np.bincount(codes).min() >= n:
            cv = StratifiedKFold(n)
        else:
            cv = KFold(n, shuffle=True, random_state=0)
    every = np.arange(len(y))
    return [(every[train], every[test]) for train, test in check_cv(cv, codes).split(every, codes, groups)]


def refuse_empty_folds(folds: list[tuple[Rows, Rows]], weights: Any) -> None:
    """An error for folds that have only rows of weight 0 to learn from or to rate on."""
    for number, fold in enumerate(folds):
        for rows, what in zip(fold, ("to learn from", "to rate on"), strict=True):
            if weights is not None and not weights[rows].any():
                raise HullrankError(
                    f"fold {number} has only rows of weight 0 {what}; leave such rows out, or shuffle the folds: "
                    "cv=StratifiedKFold(5, shuffle=True)"
                )
