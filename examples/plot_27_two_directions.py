"""
Where one direction is not enough
=================================

One score for all grades says that what tells the lowest grades apart tells the highest apart just so. Brant's test
asks every column whether that is true, and ``PartialOddsClassifier`` lets those count differently at every threshold
that fail it.
"""

# %%
# Effort takes a pupil from "fail" to "pass"; from "pass" to "excellent" it is in the way (it was drawn so), while
# talent helps at both steps and height at neither.
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, PartialOddsClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 3))
names, grades = ["talent", "effort", "height"], ["fail", "pass", "excellent"]
passed = X @ [1, 1, 0] + 0.4 * rng.logistic(size=1500) > 0
y = passed.astype(int) + (passed & (X @ [1, -1, 0] + 0.4 * rng.logistic(size=1500) > 0))
train, test = np.arange(1500) < 600, np.arange(1500) >= 600

plain = FixedMarginClassifier(thresholds="all", loss="logistic").fit(X[train], y[train])
free = PartialOddsClassifier(FixedMarginClassifier(loss="logistic")).fit(X[train], y[train])
for name, p in zip(names, free.p_values_, strict=True):
    print(f"{name}: counts alike at both thresholds with p = {p:.2g}")
print(f"one direction: {plain.score(X[test], y[test]):.1%} of new grades right")
print(f"two where needed: {free.score(X[test], y[test]):.1%}, certificate {free.certificate_.status}")

# %%
# The grades of new pupils, and the regions that the models give to them (height at its mean).
plt.style.use("seaborn-v0_8-colorblind")
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharex=True, sharey=True)
talent, effort = np.meshgrid(np.linspace(-3, 3, 200), np.linspace(-3, 3, 200))
plane = np.column_stack([talent.ravel(), effort.ravel(), np.zeros(talent.size)])
for ax, title, model in ((axes[0], "one direction", plain), (axes[1], "effort may turn", free)):
    regions = model.predict(plane).reshape(talent.shape)
    ax.contourf(talent, effort, regions, levels=[-0.5, 0.5, 1.5, 2.5], colors=["C0", "C1", "C2"], alpha=0.2)
    for k, marker in enumerate("os^"):
        shown = test & (y == k)
        ax.scatter(X[shown, 0], X[shown, 1], s=8, color=f"C{k}", marker=marker, label=grades[k])
    ax.set(title=title, xlabel="talent", xlim=(-3, 3), ylim=(-3, 3))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("effort")
axes[1].legend(loc="lower right", framealpha=1)
plt.show()
