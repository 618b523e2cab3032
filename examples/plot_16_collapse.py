"""
A ranking that ranks nothing: collapse, and its cure
====================================================

The hull problem as published lets the lower end of a class's interval lie above its upper end. On noisy data
its best answer is then to give up: no weights at all, and all intervals crossed. hullrank keeps every
interval proper by default.
"""

# %%
# Diabetes progression in five grades: noisy, as real data are.
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullRanker, ScoreLineDisplay
from hullrank.datasets import discretize
from hullrank.exceptions import CollapsedRankingWarning

X, y = load_diabetes(return_X_y=True)
X, grades = StandardScaler().fit_transform(X), discretize(y, 5)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", CollapsedRankingWarning)
    free = ConvexHullRanker(intervals="free").fit(X, grades)
print("free intervals:", caught[0].message)
proper = ConvexHullRanker(intervals="proper").fit(X, grades)

# %%
# Both are optimal answers to their problems; the certificates prove it. One of them is useless.
for name, model in {"free": free, "proper": proper}.items():
    print(f"{name:7} largest weight {abs(model.coef_).max():.1e}, relative gap {model.certificate_.relative_gap:.1e}")

# %%
# With free intervals the scores of all patients lie within a millionth of each other (mind the scale). The optimum
# ranks nothing; what order is left comes from where the solver stopped on its way there. With proper intervals
# the grades line up, and the model says so.
fig, axes = plt.subplots(2, 1, figsize=(7.4, 8.2), layout="constrained")
for ax, model, title in zip(axes, (free, proper), ("free intervals (as published)", "proper intervals"), strict=True):
    ScoreLineDisplay.from_predictions(grades, model.score_samples(X), ax=ax)
    ax.set_title(title, loc="left")
plt.show()
