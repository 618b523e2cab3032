"""
Preferences: learning from "this one rather than that one"
==========================================================

Sometimes nobody gives grades; people only say which of two things they prefer. ``SwappedPairsRanker`` learns
from exactly those pairs, given as row numbers: the one preferred, then the other.
"""

# %%
# A hundred things with four properties, a hidden taste, and judges who are sometimes wrong.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import kendalltau

from hullrank import SwappedPairsRanker

rng = np.random.default_rng(0)
things = rng.normal(size=(100, 4))
taste = np.array([1.5, -1.0, 0.5, 0.0])
value = things @ taste


def judge(n):
    """n pairs (preferred, other); the better thing wins with probability 1 / (1 + exp(-2 difference))."""
    first, second = rng.integers(0, 100, n), rng.integers(0, 99, n)
    second += second >= first
    wins = rng.random(n) < 1 / (1 + np.exp(-2 * (value[first] - value[second])))
    return np.where(wins, [first, second], [second, first]).T


def learn(pairs):
    """No targets: the pairs are all that is known."""
    return SwappedPairsRanker(C=10.0, loss="logistic").fit(things, pairs=pairs)


# %%
# How the learned order approaches the true one as comparisons come in. Scores are for things, also for ones
# never judged.
sizes = [10, 20, 50, 100, 200, 500, 1000]
agreement = [[kendalltau(learn(judge(n)).predict(things), value).statistic for _ in range(10)] for n in sizes]
plt.style.use("seaborn-v0_8-colorblind")
fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4), layout="constrained")
left.errorbar(sizes, np.mean(agreement, axis=1), np.std(agreement, axis=1), fmt="o-", capsize=3)
left.set(xscale="log", xlabel="comparisons", ylabel="rank correlation with the truth", ylim=(0, 1))
ranker = learn(judge(500))
right.scatter(value, ranker.predict(things), s=14)
right.set(xlabel="true value", ylabel="score learned from 500 comparisons")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
print("taste up to scale:", np.round(ranker.coef_ / ranker.coef_[0] * taste[0], 2), "truth:", taste)
plt.show()
