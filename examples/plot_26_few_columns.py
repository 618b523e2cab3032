"""
Two of thirty-two columns matter
================================

A kernel with one width for all columns measures distances mostly in noise where few columns matter. ``gamma="ard"``
learns a width for every column from the ranks of the target before the fit, and the fit is certified for that kernel.
"""

# %%
# The target bends along two columns; the other thirty are noise in other units.
import matplotlib.pyplot as plt
import numpy as np

from hullrank import SwappedPairsRanker

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(1300, 32)) * rng.uniform(0.5, 20, 32)
Z = X / X.std(axis=0)
y = np.sin(1.5 * Z[:, 3]) + Z[:, 7] ** 2 / 2 + 0.05 * rng.normal(size=1300)
train, test = np.arange(1300) < 300, np.arange(1300) >= 300

ard = SwappedPairsRanker(C=1000, kernel="rbf", gamma="ard").fit(X[train], y[train])
widths = [0.1, 0.3, 1.0, 3.0]
even = [SwappedPairsRanker(C=1000, kernel="rbf", gamma=w / 32).fit(Z[train], y[train]) for w in widths]
print(f"a width for every column: {1 - ard.score(X[test], y[test]):.1%} of new pairs swapped")
for width, model in zip(widths, even, strict=True):
    print(f"one width for all, gamma = {width}/32: {1 - model.score(Z[test], y[test]):.1%}")

# %%
# What was learned about the columns, and what it is worth on new rows.
best = max(even, key=lambda model: model.score(Z[test], y[test]))
plt.style.use("seaborn-v0_8-colorblind")
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained", width_ratios=[1.3, 1, 1])
axes[0].bar(np.arange(32), ard.gamma_ * X.var(axis=0))
axes[0].set_xlabel("column")
axes[0].set_ylabel("gamma in units of 1 / variance")
axes[0].set_title("what matters")
for ax, title, scores in (
    (axes[1], "one width for all", best.score_samples(Z[test])),
    (axes[2], "a width for every column", ard.score_samples(X[test])),
):
    ax.scatter(y[test], scores, s=5)
    ax.set_title(title)
    ax.set_xlabel("target of new rows")
axes[1].set_ylabel("score")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
