"""
Choosing C: the whole path, and the simplest model that is as good
==================================================================

``FixedMarginClassifierCV`` tries a grid of C and gamma on folds, as a grid search would, and lets every solve
start from its neighbour. The one-standard-error rule then takes the most regularised model that is not
measurably worse than the best.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from hullrank import FixedMarginClassifier, FixedMarginClassifierCV
from hullrank.datasets import discretize
from hullrank.metrics import get_scorer
from hullrank.plots import PathDisplay

X, y = load_diabetes(return_X_y=True)
X, grades = X / X.std(axis=0), discretize(y, 4)

settings = {
    "gammas": [0.001, 0.01, 0.1],
    "estimator": FixedMarginClassifier(kernel="rbf"),
    "scoring": get_scorer("wmw"),
}
search = FixedMarginClassifierCV([0.03, 0.1, 0.3, 1, 3, 10, 30], **settings).fit(X, grades)
simpler = FixedMarginClassifierCV([0.03, 0.1, 0.3, 1, 3, 10, 30], one_standard_error=True, **settings).fit(X, grades)
print("best:   ", search.best_params_, f"pair accuracy {search.best_score_:.3f}")
print("simpler:", simpler.best_params_)

# %%
# Bands are one standard error wide. Where they overlap, the data do not tell the settings apart.
PathDisplay.from_estimator(search)
plt.show()
