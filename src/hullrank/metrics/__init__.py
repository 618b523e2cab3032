"""How good a ranking is: pairs, rank errors, rank statistics, retrieval metrics; and scorers for model selection."""

from hullrank.metrics.pairwise import kendall_tau_b, swapped_pairs, wmw_score

__all__ = ["kendall_tau_b", "swapped_pairs", "wmw_score"]
