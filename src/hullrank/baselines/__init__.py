"""The rivals that the papers compare with, under the same interface."""

from hullrank.baselines.informative_vectors import InformativeVectorClassifier
from hullrank.baselines.prank import PRank
from hullrank.baselines.rankboost import RankBoost

__all__ = ["InformativeVectorClassifier", "PRank", "RankBoost"]
