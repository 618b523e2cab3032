"""
Find the order of grades whose names say nothing
================================================

Someone has sent a table with five grades called ash, elm, fir, oak and yew. ``OrderGraphSearchCV`` rates every order of
them on rows left out, says which orders cannot be told from the best, and keeps grades that the rows cannot tell apart
incomparable. Up and down cannot be told: an order and its reverse rank the same pairs.
"""

# %%
# Four places along one direction; two of the grades share the third.
import matplotlib.pyplot as plt
import numpy as np

from hullrank import OrderGraphSearchCV
from hullrank.plots import OrderGraphDisplay, OrderSearchDisplay

rng = np.random.default_rng(0)
names = np.array(["fir", "ash", "oak", "yew", "elm"])  # from the lowest to the highest; oak and yew are alike
codes = np.repeat(np.arange(5), 90)
X = rng.normal(size=(450, 6))
X[:, 0] += np.array([0.0, 1.4, 2.8, 2.8, 4.2])[codes]
X[:, 1] += 0.7 * np.array([0.0, 1.0, 0.5, 0.5, 1.5])[codes]

search = OrderGraphSearchCV().fit(X, names[codes])
print(search.order_)
print("undecided:", search.undecided_)
print(f"{search.margin_:.4f} better than the next, wins {search.confidence_:.0%} of the resamples")

# %%
# The candidates, orange where they cannot be told from the best (in the ring), and what is decided.
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.4, 6), layout="constrained", height_ratios=[1.3, 1])
OrderSearchDisplay.from_estimator(search, most=8, ax=top)
OrderGraphDisplay.from_estimator(search.best_estimator_, X, names[codes], ax=bottom)
plt.show()
