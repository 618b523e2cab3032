"""The linear estimators on Dask: the same parameters, problem and certificate, with the rows on a cluster's workers.

Needs the extra ``dask`` (``pip install "hullrank[dask]"``).
"""

from hullrank.exceptions import MissingExtraError

try:
    from hullrank.distributed.estimators import (
        DaskConvexHullRanker,
        DaskFixedMarginClassifier,
        DaskNuMarginClassifier,
        DaskSumOfMarginsClassifier,
        DaskSwappedPairsRanker,
    )
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
        raise
    raise MissingExtraError("hullrank.distributed needs Dask: pip install 'hullrank[dask]'") from error

__all__ = [
    "DaskConvexHullRanker",
    "DaskFixedMarginClassifier",
    "DaskNuMarginClassifier",
    "DaskSumOfMarginsClassifier",
    "DaskSwappedPairsRanker",
]
