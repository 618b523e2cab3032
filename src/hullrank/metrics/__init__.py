"""How good a ranking is: pairs, rank errors, rank statistics, retrieval metrics; and scorers for model selection."""

from hullrank.metrics.ordinal import accuracy_within, margin_risk_bound, mean_absolute_rank_error
from hullrank.metrics.pairwise import kendall_tau_b, swapped_pairs, wmw_score
from hullrank.metrics.rank_statistics import rank_statistic
from hullrank.metrics.ranked import rank_within
from hullrank.metrics.retrieval import mean_average_precision, mean_reciprocal_rank, ndcg_score, precision_at_k
from hullrank.metrics.scorers import get_scorer, scoring_order
from hullrank.problem.statistics import RankStatistic

__all__ = [
    "RankStatistic",
    "accuracy_within",
    "get_scorer",
    "kendall_tau_b",
    "margin_risk_bound",
    "mean_absolute_rank_error",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg_score",
    "precision_at_k",
    "rank_statistic",
    "rank_within",
    "scoring_order",
    "swapped_pairs",
    "wmw_score",
]
