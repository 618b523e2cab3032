"""
Probabilities that come true
============================

A score says who ranks higher; often one wants to know how likely each grade is. ``OrdinalCalibrator`` learns
it from scores of rows that the model had not seen. Whether the probabilities come true can be checked: of all
rows to which it gives 70% for lying above a grade, 70% should.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, OrdinalCalibrator
from hullrank.datasets import make_ordinal
from hullrank.plots import ReliabilityDisplay

X, y = make_ordinal(3000, 5, n_classes=4, noise=0.7, random_state=0)
train, test = slice(0, 1000), slice(1000, 3000)
model = OrdinalCalibrator(FixedMarginClassifier(C=0.1), cv=5).fit(X[train], y[train])
P = model.predict_proba(X[test])
loss = -np.log(P[np.arange(len(P)), y[test]]).mean()
print(f"log loss {loss:.3f}; log(4) = {np.log(4):.3f} would be no knowledge")

# %%
# One curve for each grade but the highest; reliable probabilities lie on the diagonal.
display = ReliabilityDisplay.from_estimator(model, X[test], y[test])
print({f"above {label}": f"{error:.3f}" for label, error in display.errors_.items()})

# %%
# How the probabilities of the four grades change along the score line:
order = np.argsort(model.score_samples(X[test]))
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
colours = plt.colormaps["viridis"](np.linspace(0.05, 0.75, 4))
ax.stackplot(model.score_samples(X[test])[order], P[order].T, colors=colours, labels=[f"grade {c}" for c in range(4)])
ax.set(xlabel="score", ylabel="probability", ylim=(0, 1))
ax.margins(x=0)
ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, frameon=False)
plt.show()
