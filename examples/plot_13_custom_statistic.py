"""
Your own rank statistic
=======================

AUC treats all pairs alike. If only the top of the list is read, other statistics count: discounted gains, the
winner, the first hundred. ``ExactRanker`` maximises any sum of weights over the ranks of the positives, given
by name or as an array that does not decrease.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hullrank import ExactRanker
from hullrank.metrics import rank_statistic

rng = np.random.default_rng(0)
n = 200
strong, broad = rng.random(n) < 0.12, rng.normal(size=n)
y = (strong | (broad + 0.7 * rng.normal(size=n) > 0.8)).astype(int)
X = np.column_stack([3.0 * strong + 0.6 * rng.normal(size=n), broad])

# %%
# The first feature is high for few positives and says nothing of the others; the second tells a little about all.
# Only places among the first 20 count here, the higher the more: the weight of rank l, which is the number of
# samples below plus one.
top = np.clip(np.arange(1, n + 1) - (n - 20), 0, None).astype(float)
rankers = {
    "AUC": ExactRanker().fit(X, y),
    "top 20": ExactRanker(top).fit(X, y),
    "winner": ExactRanker("wta").fit(X, y),
}
for name, ranker in rankers.items():
    scores = ranker.score_samples(X)
    auc, first = rank_statistic(y, scores), rank_statistic(y, scores, top)
    print(f"best for {name:7} AUC {auc:.3f}   top 20 {first:4.0f}   ({ranker.certificate_.status})")

# %%
# Positives among the first k of the list, for the three best directions. The one for the top wins at the top.
plt.style.use("seaborn-v0_8-colorblind")
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for i, (name, ranker) in enumerate(rankers.items()):
    ranked = y[np.argsort(-ranker.score_samples(X), kind="stable")]
    ax.plot(np.arange(1, 61), np.cumsum(ranked)[:60], ls=("-", ":", "--")[i], label=f"best for {name}", lw=1.8)
ax.axvline(20, color="0.7", lw=0.8)
ax.set(xlabel="first k of the list", ylabel="positives among them")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
