"""
What a certificate says, also when the work was cut short
=========================================================

A solver's word that it converged is worth little. Every model here carries a certificate: the objective that
its stored weights have on your data, and a lower bound that no other weights can pass. The gap between the
two is proven, whether the solver finished or was stopped.
"""

# %%
import warnings

import matplotlib.pyplot as plt

from hullrank import ExactRanker, FixedMarginClassifier
from hullrank.datasets import make_ordinal
from hullrank.exceptions import ConvergenceWarning
from hullrank.plots import AnytimeDisplay, ConvergenceDisplay

X, y = make_ordinal(400, 6, noise=0.5, random_state=0)
model = FixedMarginClassifier().fit(X, y)
print(model.certificate_)
print(model.certificate_.in_words())

# %%
# The same fit, stopped after three iterations. The answer is worse, and says by how much at most.
with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
    early = FixedMarginClassifier(max_iter=3).fit(X, y)
print(early.certificate_.status, "-", early.certificate_.in_words())
worse = early.certificate_.primal / model.certificate_.primal - 1
print(f"claimed: at most {early.certificate_.relative_gap:.2%}; in truth: {worse:.2%} above the optimum")

# %%
# How the gap falls, iteration by iteration:
ConvergenceDisplay.from_estimator(model, X, y)

# %%
# Exact searches are stopped more often. Value and bound close in on each other, and both hold at any time:
# after Ctrl-C, a time limit, or (as here, so that the picture is the same everywhere) a number of cells.
ill = (y >= 3).astype(int)
search = ExactRanker(time_limit=None, max_cells=3000)
with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
    search.fit(X[:200, :5], ill[:200])
print(search.certificate_)
AnytimeDisplay.from_estimator(search)
plt.show()
