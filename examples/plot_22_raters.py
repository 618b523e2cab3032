"""
Raters who do not mean the same by a grade
==========================================

Three raters grade from 1 to 4, one of them severely and one kindly. Learned as if a grade were a grade, their rows
contradict each other. With ``groups=`` they share one score and each has thresholds of its own.
"""

# %%
# Each rater sees other things, and the kind one sees the worse ones: the grades alone do not tell them apart.
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier
from hullrank.metrics import swapped_pairs

rng = np.random.default_rng(0)
n = 420
rater = rng.integers(0, 3, n)
X = rng.normal(size=(n, 4))
X[:, 0] += np.array([0.9, 0.0, -0.9])[rater]
quality = X @ [1.0, 0.8, -0.6, 0.0]
kindness = np.array([-1.2, 0.0, 1.2])
names = np.array(["severe", "fair", "kind"])
y = 1 + np.digitize(quality + kindness[rater] + 0.4 * rng.normal(size=n), [-1.0, 0.0, 1.0])
train, test = np.arange(n) < 280, np.arange(n) >= 280

plain = FixedMarginClassifier().fit(X[train], y[train])
grouped = FixedMarginClassifier().fit(X[train], y[train], groups=names[rater[train]])

# %%
# What everybody wants is the ranking by quality, across raters.
for title, model in (("one scale", plain), ("own scales", grouped)):
    wrong = swapped_pairs(quality[test], model.score_samples(X[test]))
    print(f"{title}: {wrong:.1%} of the pairs of things swapped")

# %%
# The score line of the model with own scales: every rater's thresholds stand where that rater changes the grade.
figure, axes = plt.subplots(3, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
colours = plt.colormaps["viridis"](np.linspace(0.05, 0.75, 4))
scores = grouped.score_samples(X[test])
for ax, name in zip(axes, names, strict=True):
    own = names[rater[test]] == name
    height = rng.uniform(-1, 1, own.sum())
    for grade, colour in enumerate(colours, start=1):
        given = y[test][own] == grade
        ax.scatter(scores[own][given], height[given], color=colour, s=14, label=f"grade {grade}")
    for cut in grouped.group_thresholds_[list(grouped.groups_).index(name)]:
        ax.axvline(cut, color="#30343b", lw=1.2)
    ax.set_ylabel(name)
    ax.set(yticks=[], ylim=(-1.3, 1.3))
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, frameon=False)
axes[-1].set_xlabel("score  (lines: the rater's own thresholds)")
plt.show()
