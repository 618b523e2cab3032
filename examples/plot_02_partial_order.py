"""
A partial order: what cannot be compared is not compared
========================================================

Patients are healthy, have a mild or a chronic form, or are severely ill. Severe is above both forms and
healthy below, but nobody can say whether mild or chronic is higher. Numbering the four classes from 0 to 3
would invent an answer; an order graph leaves it open.
"""

# %%
# Two forms with the same place on the scale but different causes:
import matplotlib.pyplot as plt
import numpy as np

from hullrank import ConvexHullRanker, ScoreLineDisplay
from hullrank.metrics import wmw_score
from hullrank.plots import OrderGraphDisplay

rng = np.random.default_rng(0)
names = ["healthy", "mild", "chronic", "severe"]
centres = np.array([[0.0, 0, 0], [1.6, 0.3, 0], [0.3, 1.6, 0], [2.0, 2.0, 0.6]])
y = np.repeat(names, 80)
X = centres[np.repeat(range(4), 80)] + rng.normal(scale=0.8, size=(320, 3))

order = "healthy < mild, chronic < severe"
ranker = ConvexHullRanker(order, C=0.1).fit(X[::2], y[::2])

# %%
# The order graph, with the share of pairs ranked right along every edge, on the half of the patients that was
# left out.
OrderGraphDisplay.from_estimator(ranker, X[1::2], y[1::2])

# %%
# On the score line the two forms share their place, and no pair of them is counted as an error.
ScoreLineDisplay.from_estimator(ranker, X[1::2], y[1::2])

# %%
# What a chain would have cost: it spends its weights on telling mild from chronic, which nobody asked for.
chain = ConvexHullRanker(classes=names, C=0.1).fit(X[::2], y[::2])
for name, model in {"partial order": ranker, "chain": chain}.items():
    share = wmw_score(y[1::2], model.score_samples(X[1::2]), order=order)
    print(f"{name:14} ranks {share:.1%} of the comparable pairs right")
plt.show()
