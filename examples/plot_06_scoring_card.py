"""
A scoring card that fits on paper
=================================

Doctors and clerks use cards: some points for every yes, a total, a decision.
``ExactRanker(weights="integer")`` finds the card with the best AUC over *all* small whole numbers, and proves
it. What is usually done is to round the weights of logistic regression.
"""

# %%
# Five yes-or-no questions about 400 people, of which two do not matter.
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from hullrank import ExactRanker
from hullrank.metrics import rank_statistic
from hullrank.plots import ScoringSystemDisplay

rng = np.random.default_rng(0)
names = ["fever", "smoker", "vaccinated", "over 60", "left-handed"]
answers = rng.integers(0, 2, size=(400, 5))
ill = (answers @ [2, 0, -1, 1, 0] + rng.logistic(size=400) > 1).astype(int)

# %%
# At most three questions, at most three points each.
table = pl.DataFrame({name: answers[:, j] for j, name in enumerate(names)})
card = ExactRanker(weights="integer", max_weight=3, max_features=3).fit(table, ill)
print(card.score_table_)
print(card.certificate_)

# %%
# The card, and how many people with each total are ill.
ScoringSystemDisplay.from_estimator(card)

# %%
# Rounded logistic weights, scaled so that the largest is 3 points, for comparison (ties count as errors). Here
# rounding finds the same card; only the search knows that there is no better one.
weights = LogisticRegression(C=1e6).fit(answers, ill).coef_[0]
rounded = np.rint(3 * weights / np.abs(weights).max())
for name, points in {"exact": card.coef_, "rounded logistic regression": rounded}.items():
    print(f"{name:28} points {points.astype(int).tolist()}  AUC {rank_statistic(ill, answers @ points):.4f}")
plt.show()
