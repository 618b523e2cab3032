"""hullrank learns to rank, and proves how good the answer is.

Every method places *blocks* of samples (a class, or a single sample) on the *score line*: block c lies in an interval
[L_c, U_c], and an *order graph* says which block must lie above which. The convex hull of a class, seen along w, is
that interval, so separating hulls needs no pairs. The methods differ in five choices: the order graph, the margin
policy (fixed, nu, sum of margins), the slack and its charge (hinge, squared hinge, 0-1), the regulariser, the solver.

A *Ranker* predicts scores, a *Classifier* predicts ordered labels; both place samples on the score line by
``score_samples`` and carry a ``certificate_``: objective, lower bound, and the gap between them.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "OrderGraph": "order",
    "ConvexHullRanker": "models.hull",
    "ConvexHullClassifier": "models.hull",
    "FixedMarginClassifier": "models.margins",
    "PartialOddsClassifier": "models.partial_odds",
    "NuMarginClassifier": "models.driven_margins",
    "SumOfMarginsClassifier": "models.driven_margins",
    "SwappedPairsRanker": "models.pairs",
    "SampledPairsRanker": "models.sampled_pairs",
    "ExactRanker": "models.exact",
    "LinearRelaxationRanker": "models.relaxation",
    "OrdinalCalibrator": "models.calibration",
    "SemiSupervised": "models.semi_supervised",
    "ConvexHullRankerCV": "model_selection.path",
    "FixedMarginClassifierCV": "model_selection.path",
    "SwappedPairsRankerCV": "model_selection.path",
    "OrderGraphSearchCV": "model_selection.order_search",
    "TunedThresholdOrdinal": "model_selection.thresholds",
    "OrdinalPredictionSets": "model_selection.prediction_sets",
    "PRank": "baselines.prank",
    "RankBoost": "baselines.rankboost",
    "InformativeVectorClassifier": "baselines.informative_vectors",
    "ScoreLineDisplay": "plots",
    "summarise": "models.summary",
}
_SUBPACKAGES = ("data", "metrics", "exceptions", "datasets", "io", "plots")

__all__ = ["__version__", *_HOME, *_SUBPACKAGES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hullrank")
    if name in _SUBPACKAGES:
        return import_module(f"hullrank.{name}")
    if name in _HOME:
        return getattr(import_module(f"hullrank.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hullrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
