"""
Thresholds for what mistakes cost
=================================

Sending a severe case home costs more than keeping a mild one for a night. The score line stays; only the cuts
move. ``TunedThresholdOrdinal`` finds the cuts with the least total cost on scores of rows that were left out,
over all possible cuts, by dynamic programming.
"""

# %%
# Costs: one row for each true grade (mild, moderate, severe), one column for what is said.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from hullrank import FixedMarginClassifier, TunedThresholdOrdinal
from hullrank.plots import ScoreLineDisplay

COSTS = np.array([[0, 1, 2], [4, 0, 1], [12, 5, 0]])
GRADES = np.array(["mild", "moderate", "severe"])
X, y = load_diabetes(return_X_y=True)
X, codes = X / X.std(axis=0), np.searchsorted(np.quantile(y, [0.5, 0.8]), y)
train, test = np.arange(442) % 2 == 0, np.arange(442) % 2 == 1

inner = FixedMarginClassifier(C=0.1, classes=GRADES.tolist())
tuned = TunedThresholdOrdinal(inner, metric=COSTS).fit(X[train], GRADES[codes[train]])


def cost(labels):
    """Mean cost of what is said about the test rows."""
    said = [GRADES.tolist().index(label) for label in labels]
    return COSTS[codes[test], said].mean()


print(f"thresholds of the margin: cost {cost(tuned.estimator_.predict(X[test])):.2f} per patient")
print(f"thresholds for the costs: cost {cost(tuned.predict(X[test])):.2f} per patient")
print(f"always 'severe':          cost {COSTS[codes[test], 2].mean():.2f} per patient")

# %%
# The same scores, cut twice: more patients are called severe where missing one is dear.
fig, axes = plt.subplots(2, 1, figsize=(7.4, 6.4), layout="constrained")
for ax, thresholds, title in zip(
    axes, (tuned.estimator_.thresholds_, tuned.thresholds_), ("thresholds of the margin", "thresholds for the costs"),
    strict=True,
):  # fmt: skip
    ScoreLineDisplay.from_predictions(
        GRADES[codes[test]], tuned.score_samples(X[test]), classes=GRADES, thresholds=thresholds, ax=ax
    )
    ax.set_title(title, loc="left")
plt.show()
