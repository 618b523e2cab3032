"""The metrics as scorers for model selection."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.metrics.ordinal import accuracy_within, mean_absolute_rank_error
from hullrank.metrics.pairwise import kendall_tau_b, swapped_pairs, wmw_score
from hullrank.metrics.rank_statistics import rank_statistic
from hullrank.metrics.retrieval import mean_average_precision, mean_reciprocal_rank, ndcg_score, precision_at_k
from hullrank.order import OrderGraph

_SCORES = ("score_samples", "decision_function", "predict")
_LABELS = ("predict_class", "predict")

# name: metric, the methods that give its second argument (the first that exists), sign
_METRICS: dict[str, tuple[Callable[..., float], tuple[str, ...], int]] = {
    "wmw": (wmw_score, _SCORES, 1),
    "swapped_pairs": (swapped_pairs, _SCORES, -1),
    "kendall_tau_b": (kendall_tau_b, _SCORES, 1),
    "rank_statistic": (rank_statistic, _SCORES, 1),
    "ndcg": (ndcg_score, _SCORES, 1),
    "precision_at_k": (precision_at_k, _SCORES, 1),
    "mean_average_precision": (mean_average_precision, _SCORES, 1),
    "mean_reciprocal_rank": (mean_reciprocal_rank, _SCORES, 1),
    "mean_absolute_rank_error": (mean_absolute_rank_error, _LABELS, -1),
    "accuracy_within": (accuracy_within, _LABELS, 1),
}


def get_scorer(name: str, **options: Any) -> "RankScorer":
    """A metric as a scorer, for ``scoring=`` in GridSearchCV, cross_val_score and the like.

    Parameters
    ----------
    name : {"wmw", "swapped_pairs", "kendall_tau_b", "rank_statistic", "ndcg", "precision_at_k", \
            "mean_average_precision", "mean_reciprocal_rank", "mean_absolute_rank_error", "accuracy_within"}
        Errors (``swapped_pairs``, ``mean_absolute_rank_error``) are negated, so that greater is better.
    **options
        Keyword arguments of the metric. The order of the labels is that of the fitted estimator unless given here.

    Returns
    -------
    scorer : RankScorer
        A new object; ``set_score_request(qid=True, sample_weight=True)`` routes metadata to it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from hullrank.metrics import get_scorer
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> get_scorer("wmw")(model, [[0.0], [3.0]], [0, 1])
    1.0
    """
    if name not in _METRICS:
        raise HullrankError(f"unknown metric {name!r}; use one of {', '.join(_METRICS)}")
    scorer = RankScorer(name, *_METRICS[name], options)
    scorer.check_accepts(options)
    return scorer


@dataclass
class RankScorer:
    """A metric that scores a fitted estimator on data; made by `get_scorer`."""

    name: str
    metric: Callable[..., float]
    methods: tuple[str, ...]
    sign: int
    options: dict[str, Any]
    requests: dict[str, bool | str | None] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Score the estimator's answer for X against y; greater is better."""
        answer = _respond(estimator, X, self.methods)
        given = {key: value for key, value in metadata.items() if value is not None}
        return self.sign * self.metric(y, answer, **{**self._declared(_final(estimator), y), **self.options, **given})

    def _declared(self, estimator: Any, y: Any) -> dict[str, Any]:
        """The order of labels that the estimator was fitted with, for metrics that ask for one."""
        if "order" in self._parameters:
            return {"order": scoring_order(estimator, y)}
        classes = _ordered_classes(estimator)
        return {"classes": classes} if "classes" in self._parameters and _covers(classes, y) else {}

    @property
    def _parameters(self) -> list[str]:
        return list(signature(self.metric).parameters)[2:]

    def check_accepts(self, names: Iterable[str]) -> None:
        """Raise an error that names the first option that the metric does not know."""
        for name in names:
            if name not in self._parameters:
                raise HullrankError(f"{self.name!r} has no option {name!r}; it takes {', '.join(self._parameters)}")

    def set_score_request(self, **requests: bool | str | None) -> "RankScorer":
        """Ask for metadata, such as ``qid=True`` or ``sample_weight="my_weights"``, when metadata routing is on."""
        self.check_accepts(requests)
        self.requests = requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Which metadata the scorer asks for."""
        request = MetadataRequest(owner=self)
        for name in {"qid", "sample_weight", *self.requests}.intersection(self._parameters):
            request.score.add_request(param=name, alias=self.requests.get(name))
        return request

    def _accept_sample_weight(self) -> bool:  # asked by scikit-learn when several scorers share one call
        return "sample_weight" in self._parameters

    def __repr__(self) -> str:
        return f"get_scorer({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self.options.items())])})"


def scoring_order(estimator: Any, y: Any) -> Any:
    """The order to score y by: all comparable labels of the graph that the estimator was fitted with, else "full".

    It is the closure, so that estimators fitted with a chain and with a full graph are measured alike. A ranker fitted
    to real-valued targets knows no place for new values, but numbers order themselves.

    Parameters
    ----------
    estimator : fitted estimator
    y : array-like of shape (n_samples,)
        The targets that are scored.

    Returns
    -------
    order : OrderGraph or "full"

    Examples
    --------
    >>> from hullrank import ConvexHullRanker
    >>> from hullrank.metrics import scoring_order
    >>> ranker = ConvexHullRanker("a < b < c").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> scoring_order(ranker, ["a", "c"]).edges  # the chain, closed
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    order = getattr(estimator, "order_", None)
    if order is None:
        classes = _ordered_classes(estimator)
        return OrderGraph.full(classes) if _covers(classes, y) else "full"
    new_numbers = order.is_total and np.asarray(y).dtype.kind in "biuf" and not _covers(order.labels, y)
    return "full" if new_numbers else order.closure()


def _ordered_classes(estimator: Any) -> Any:
    """Classes from lowest to highest, if the estimator places samples on a score line; else they are just sorted."""
    if hasattr(estimator, "score_samples") and hasattr(estimator, "classes_"):
        return np.asarray(estimator.classes_).tolist()
    return None


def _covers(classes: Any, y: Any) -> bool:
    """Whether all labels of y are among the classes."""
    return classes is not None and set(np.asarray(y).ravel().tolist()).issubset(classes)


def _final(estimator: Any) -> Any:
    """The last step of a pipeline, the best estimator of a search."""
    return unwrap(estimator, calibrators=False).model


def _respond(estimator: Any, X: Any, methods: tuple[str, ...]) -> Any:
    """The answer of the first method that exists, on the estimator or on the last step that it does not pass on."""
    for method in methods:
        if hasattr(estimator, method):
            return _one_per_row(estimator, getattr(estimator, method)(X))
        inside = unwrap(estimator, calibrators=False)
        if hasattr(inside.model, method):
            return _one_per_row(estimator, getattr(inside.model, method)(inside.transform(X)))
    raise HullrankError(f"{type(estimator).__name__} has none of the methods {', '.join(methods)}")


def _one_per_row(estimator: Any, answer: Any) -> Any:
    if np.ndim(answer) > 1 and np.shape(answer)[1] > 1:
        name, shape = type(_final(estimator)).__name__, np.shape(answer)
        raise HullrankError(f"{name} answers with shape {shape}, not with one score per row, so it ranks nothing")
    return answer
