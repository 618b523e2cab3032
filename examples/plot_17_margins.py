"""
Three ways to place thresholds: fixed, nu, and sum of margins
=============================================================

Three rings in the plane, and a second-order kernel (figure 3 of Shashua and Levin 2002). The fixed margin is
the same between all neighbouring classes, nu sets how many samples may miss it, and the sum of margins lets
every pair of neighbours have a margin of its own.
"""

# %%
import matplotlib.pyplot as plt

from hullrank import FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
from hullrank.datasets import make_conic_classes
from hullrank.plots import MarginDisplay

X, y = make_conic_classes(120, random_state=0)
kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
models = {
    "fixed margin": FixedMarginClassifier(C=10.0, loss="hinge", thresholds="immediate", **kernel),
    "nu margin": NuMarginClassifier(nu=0.3, **kernel),
    "sum of margins": SumOfMarginsClassifier(C=0.25, class_weight=None, **kernel),
    "sum of margins, small C": SumOfMarginsClassifier(C=0.03, class_weight=None, **kernel),
}

# %%
# Areas are grades, solid lines thresholds, dashed lines the ends of the margins, dark edges support vectors.
# With a small C the sum of margins gives the two outer margins so much room that the class between them
# vanishes: its two ends meet.
fig, axes = plt.subplots(2, 2, figsize=(8.4, 8), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    model.fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_xlabel("")
    ax.set_ylabel("")
    ax.set_title(name, loc="left", pad=22)
    width = model.intervals_[1, 1] - model.intervals_[1, 0]
    print(f"{name:24} support vectors {len(model.support_):3}   width of the middle class {width:.3f}")
plt.show()
