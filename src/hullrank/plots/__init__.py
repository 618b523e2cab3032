"""Pictures of rankings as scikit-learn Displays; they take any fitted estimator, and import none."""

from importlib import import_module
from typing import Any

_HOME = {
    "AnytimeDisplay": "anytime",
    "CoefficientDisplay": "coefficients",
    "ConvergenceDisplay": "convergence",
    "CriticalDifferenceDisplay": "critical_difference",
    "MarginDisplay": "margin",
    "OrderGraphDisplay": "order_graph",
    "OrderSearchDisplay": "order_search",
    "PairMatrixDisplay": "pair_matrix",
    "PathDisplay": "path",
    "ReliabilityDisplay": "reliability",
    "RocDisplay": "roc",
    "ScoreLineDisplay": "score_line",
    "ScoringSystemDisplay": "scoring_system",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"hullrank.plots.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hullrank.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
