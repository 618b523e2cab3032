"""The linear estimators on Dask: the same parameters, problem and certificate, with the rows on the workers of a cluster.

Needs the extra ``dask`` (``pip install "hullrank[dask]"``).
"""

from hullrank.exceptions import MissingExtraError

try:
    import dask.distributed
except ImportError as error:
    raise MissingExtraError("hullrank.distributed needs Dask: pip install 'hullrank[dask]'") from error

from hullrank.distributed.estimators import (
    DaskConvexHullRanker,
    DaskFixedMarginClassifier,
    DaskNuMarginClassifier,
    DaskSumOfMarginsClassifier,
    DaskSwappedPairsRanker,
)

__all__ = [
    "DaskConvexHullRanker",
    "DaskFixedMarginClassifier",
    "DaskNuMarginClassifier",
    "DaskSumOfMarginsClassifier",
    "DaskSwappedPairsRanker",
]
