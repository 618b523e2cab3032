"""
The papers' rivals: PRank, RankBoost, informative vectors
=========================================================

An online perceptron, boosting, and a sparse Gaussian process: the methods that the papers compare with, under
the same interface. Here all meet on a saddle, which no linear score can follow (Crammer and Singer 2001).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, InformativeVectorClassifier, PRank, RankBoost
from hullrank.datasets import make_ordinal
from hullrank.metrics import swapped_pairs

X, y = make_ordinal(2000, 2, surface="saddle", n_classes=5, noise=0.1, random_state=0)
train, test = slice(0, 500), slice(500, 2000)
models = {
    "PRank, second-order kernel": PRank(kernel="poly", degree=2, gamma=1.0, coef0=1.0, epochs=20, random_state=0),
    "RankBoost, steps of features": RankBoost(200, weak_rankers="thresholds"),
    "informative vectors": InformativeVectorClassifier(n_active=60, random_state=0),
    "fixed margin, rbf kernel": FixedMarginClassifier(C=10.0, kernel="rbf"),
}

# %%
# The score as a landscape, from low (dark) to high (light), and the pair accuracy on new rows. Sums of steps
# along the axes cannot make a saddle; the other three can.
axis = np.linspace(X.min(), X.max(), 60)
first, second = np.meshgrid(axis, axis)
grid = np.column_stack([first.ravel(), second.ravel()])
fig, axes = plt.subplots(2, 2, figsize=(7.4, 7), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    model.fit(X[train], y[train])
    right = 1 - swapped_pairs(y[test], model.score_samples(X[test]))
    ax.contourf(first, second, model.score_samples(grid).reshape(first.shape), levels=12, cmap="viridis")
    ax.set_aspect("equal")
    ax.set_title(f"{name}\n{right:.1%} of pairs right", fontsize="medium")
    print(f"{name:30} {right:.3f}")
fig.supxlabel("first feature", fontsize="medium")
fig.supylabel("second feature", fontsize="medium")
plt.show()
