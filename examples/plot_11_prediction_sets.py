"""
Several grades instead of one, with a guarantee
===============================================

Where a row is hard to grade, one label hides that. ``OrdinalPredictionSets`` gives neighbouring grades that
contain the true one with a probability you choose, whether or not the model's probabilities are right (split
conformal prediction).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, OrdinalPredictionSets
from hullrank.datasets import make_ordinal

X, y = make_ordinal(4000, 5, n_classes=5, noise=0.6, random_state=0)
train, test = slice(0, 1000), slice(1000, 4000)
asked = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
reached, sizes = [], []
for coverage in asked:
    model = OrdinalPredictionSets(FixedMarginClassifier(C=0.1), coverage=coverage, random_state=0)
    sets = model.fit(X[train], y[train]).predict_set(X[test])
    reached.append(sets[np.arange(3000), y[test]].mean())
    sizes.append(sets.sum(axis=1).mean())

# %%
# What was asked for is reached on new rows, up to the chance of one draw of the rows that set the size of the
# sets.
plt.style.use("seaborn-v0_8-colorblind")
fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4), layout="constrained")
left.plot([0.45, 1], [0.45, 1], color="0.6", lw=1)
left.plot(asked, reached, "o-")
left.set(xlabel="coverage asked for", ylabel="coverage on new rows", aspect="equal")
right.plot(asked, sizes, "o-")
right.set(xlabel="coverage asked for", ylabel="mean number of grades in a set", ylim=(0, 5))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
for wish, got, size in zip(asked, reached, sizes, strict=True):
    print(f"asked {wish:.2f}  reached {got:.3f}  grades in a set {size:.2f}")
plt.show()
