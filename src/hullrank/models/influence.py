"""Permutation influence (Breiman 2001): what a model loses when a column no longer belongs to its rows."""

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hullrank._pipelines import unwrap
from hullrank._sklearn import num_samples
from hullrank.metrics import scoring_order, swapped_pairs, wmw_score

Floats = NDArray[np.float64]


def permutation_influence(
    estimator: Any, X: Any, y: Any, *, qid: Any = None, sample_weight: Any = None, n_repeats: int = 5, seed: int = 0
) -> tuple[Floats, Floats]:
    """How far pair accuracy falls when a column is shuffled over the rows: mean and standard deviation.

    Parameters
    ----------
    estimator : fitted estimator with ``score_samples``, or a pipeline that ends in one
    X : {array-like, data frame} of shape (n_samples, n_columns)
        Columns are shuffled one by one, those of a frame as they are before a pipeline encodes them.
    y : array-like of shape (n_samples,)
    qid, sample_weight : array-like of shape (n_samples,), default=None
    n_repeats : int, default=5
        Shuffles of every column.
    seed : int, default=0

    Returns
    -------
    fall, deviation : ndarray of shape (n_columns,)
    """
    model = unwrap(estimator).model
    order, classes = scoring_order(model, y), getattr(model, "classes_", None)
    known = None if classes is None or order == "full" else classes.tolist()

    def accuracy(rows: Any) -> float:
        scores = estimator.score_samples(rows)
        if qid is not None:
            return 1 - swapped_pairs(y, scores, qid=qid, sample_weight=sample_weight, classes=known)
        return wmw_score(y, scores, order=order, sample_weight=sample_weight)

    rng, best = np.random.default_rng(seed), accuracy(X)
    shuffle, width = _shuffler(X)
    shuffles = [rng.permutation(num_samples(X)) for _ in range(n_repeats)]
    falls = np.array([[best - accuracy(shuffle(j, rows)) for rows in shuffles] for j in range(width)])
    return falls.mean(axis=1), falls.std(axis=1)


def _shuffler(X: Any) -> tuple[Callable[[int, NDArray[np.intp]], Any], int]:
    """A function of a column and an order of the rows that gives X with this column in that order; and the columns."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = frame.columns

        def in_frame(j: int, rows: NDArray[np.intp]) -> Any:
            column = frame[names[j]]
            moved = nw.new_series(names[j], column[rows.tolist()].to_list(), column.dtype, backend=frame.implementation)
            return nw.to_native(frame.with_columns(moved))

        return in_frame, len(names)
    array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)

    def in_array(j: int, rows: NDArray[np.intp]) -> Any:
        moved = array.copy()
        moved[:, j] = array[rows, j]
        return moved

    return in_array, array.shape[1]
