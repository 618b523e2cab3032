"""
Weights with errors: which measurements matter?
===============================================

People who come from R's ``summary(polr(...))`` or statsmodels ask for standard errors. ``summarise`` refits
the model to bootstrap samples and gives errors and intervals for weights and thresholds. They describe the
regularised model, whose weights are pulled towards zero; they are no tests of effects.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from hullrank import FixedMarginClassifier, summarise
from hullrank.datasets import discretize
from hullrank.plots import CoefficientDisplay

bunch = load_diabetes()
X, grades = bunch.data / bunch.data.std(axis=0), discretize(bunch.target, 4)
model = FixedMarginClassifier(loss="logistic", thresholds="all").fit(X, grades)
summary = summarise(model, X, grades, names=bunch.feature_names, n_resamples=100)
print(summary)

# %%
# Blue raises the grade, vermilion lowers it; lines are 95% intervals.
CoefficientDisplay.from_summary(summary)
plt.show()
