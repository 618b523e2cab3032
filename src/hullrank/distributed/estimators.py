"""The estimators of `hullrank`, fitted to Dask collections."""

import inspect
from time import perf_counter
from typing import Any, Self

import numpy as np
from dask.distributed import Client, get_client
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from hullrank.distributed.blocks import blocks_of
from hullrank.exceptions import HullrankError
from hullrank.models.base import fitting
from hullrank.models.driven_margins import NuMarginClassifier, SumOfMarginsClassifier
from hullrank.models.hull import ConvexHullRanker
from hullrank.models.margins import FixedMarginClassifier
from hullrank.models.pairs import SwappedPairsRanker


def on_dask(cls: Any) -> Any:
    """Give a class the parameters of the estimator that it stands for, and ``client``; and lazy predictions."""
    local = cls.local
    before = inspect.signature(local.__init__)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)

    def initialise(self: Any, *args: Any, client: Any = None, **parameters: Any) -> None:
        local.__init__(self, *args, **parameters)
        self.client = client

    vars(initialise)["__signature__"] = before.replace(parameters=[*before.parameters.values(), client])
    cls.__init__ = initialise
    cls._parameter_constraints = {**local._parameter_constraints, "client": "no_validation"}
    for name in ("score_samples", "decision_function", "predict", "predict_class"):
        if hasattr(local, name):
            setattr(cls, name, _lazy(name, getattr(local, name)))
    return cls


def _lazy(name: str, method: Any) -> Any:
    """A method that answers Dask collections by Dask collections, and anything else at once."""

    def answer(self: Any, X: Any) -> Any:
        if not hasattr(X, "to_delayed"):
            return getattr(self.to_local(), name)(X)
        local = self.to_local()
        check_is_fitted(local)
        one = method(local, _one_row(local, X))
        if hasattr(X, "map_blocks"):
            rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
            shape = {"drop_axis": 1} if one.ndim == 1 else {"chunks": (X.chunks[0], one.shape[1])}
            return rows.map_blocks(_answer, local, name, dtype=one.dtype, meta=one[:0], **shape)
        if one.ndim > 1:
            return X.map_partitions(_answer, local, name).to_dask_array()
        return X.map_partitions(_answer, local, name, meta=(name, one.dtype))

    answer.__name__ = name
    answer.__doc__ = f"{method.__doc__}\n\n        A Dask collection is answered lazily, by one.\n        "
    return answer


def _one_row(local: Any, X: Any) -> Any:
    """A row of zeros with the columns of X, where they are known: the local model says at once if they are wrong."""
    import pandas as pd

    if hasattr(X, "columns"):
        return pd.DataFrame(np.zeros((1, len(X.columns))), columns=X.columns)
    width = X.shape[1]
    return np.zeros((1, local.n_features_in_ if np.isnan(width) else width))


def _answer(part: Any, local: Any, name: str) -> Any:
    method = getattr(local, name)
    found = method(part) if part.shape[0] else method(_one_row(local, part))[:0]
    if hasattr(part, "index"):
        import pandas as pd

        return pd.Series(found, index=part.index) if found.ndim == 1 else pd.DataFrame(found, index=part.index)
    return found


class OnDask(BaseEstimator):
    """What estimators on Dask share: a fit to blocks on the workers, and the way back to a local estimator."""

    local: Any
    client: Any

    @fitting
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, qid: Any = None, **others: Any) -> Self:
        """Fit to a Dask array or data frame; rows stay on the workers, of which any may be lost.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Blocks may be dense or sparse, empty, of one class, and of unknown size.
        y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
            In blocks like those of X; an array in memory is cut like them.
        sample_weight : the same, default=None
        qid : the same, default=None
            For rankers of pairs: a query must lie in one block.
        **others
            What only the local estimators take, which is refused.

        Returns
        -------
        self : object
        """
        began = perf_counter()
        for name in others:
            raise HullrankError(f"{type(self).__name__} takes no {name}; use the local estimator")
        if qid is not None and not issubclass(self.local, SwappedPairsRanker):
            raise HullrankError(f"{type(self).__name__} takes no qid; it ranks all rows together")
        if y is None:
            raise HullrankError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        client = _current_client() if self.client is None else self.client
        if not isinstance(client, Client):
            raise HullrankError(f"client is a dask.distributed.Client, and was {client!r}; None is the current one")
        blocks, source = blocks_of(client, X, y, sample_weight, qid)
        return self._fit_blocks(blocks, source, began)

    def to_local(self) -> Any:
        """The same model without Dask: an estimator with the same parameters and, once fitted, the same attributes."""
        parameters = self.get_params(deep=False)
        local = self.local(**_cloned(parameters))
        vars(local).update({name: value for name, value in vars(self).items() if name not in parameters})
        return local

    def summary(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """What the model learned, as tables; with training data in memory, with bootstrap errors."""
        return self.to_local().summary(X, y, **options)

    def __sklearn_clone__(self) -> Any:
        return type(self)(**_cloned(self.get_params(deep=False)), client=self.client)

    def __getstate__(self) -> Any:
        return {**dict(super().__getstate__()), "client": None}  # a connection is not part of a model


def _current_client() -> Client:
    try:
        return get_client()
    except ValueError as error:
        raise HullrankError(
            "there is no Dask client; make one first, as by client = dask.distributed.Client(), or give client="
        ) from error


def _cloned(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the local estimator, cloned."""
    return {name: clone(value, safe=False) for name, value in parameters.items() if name != "client"}


@on_dask
class DaskConvexHullRanker(OnDask, ConvexHullRanker):
    """`hullrank.ConvexHullRanker` on a Dask cluster, with the same parameters and attributes.

    ``client`` is the `distributed.Client` to use; None is the current one.
    """

    local = ConvexHullRanker


@on_dask
class DaskFixedMarginClassifier(OnDask, FixedMarginClassifier):
    """`hullrank.FixedMarginClassifier` on a Dask cluster, with the same parameters and attributes.

    ``client`` is the `distributed.Client` to use; None is the current one.
    """

    local = FixedMarginClassifier


@on_dask
class DaskNuMarginClassifier(OnDask, NuMarginClassifier):
    """`hullrank.NuMarginClassifier` on a Dask cluster, with the same parameters and attributes.

    ``client`` is the `distributed.Client` to use; None is the current one.
    """

    local = NuMarginClassifier


@on_dask
class DaskSumOfMarginsClassifier(OnDask, SumOfMarginsClassifier):
    """`hullrank.SumOfMarginsClassifier` on a Dask cluster, with the same parameters and attributes.

    ``client`` is the `distributed.Client` to use; None is the current one.
    """

    local = SumOfMarginsClassifier


@on_dask
class DaskSwappedPairsRanker(OnDask, SwappedPairsRanker):
    """`hullrank.SwappedPairsRanker` on a Dask cluster, with the same parameters and attributes.

    ``client`` is the `distributed.Client` to use; None is the current one.
    """

    local = SwappedPairsRanker
