"""
One number from 0 to 1 for nu and the sum of margins
====================================================

Not every nu, and not every C of the sum of margins, has a solution: which do depends on the data. ``fraction`` runs
from 0 to 1 over those that have one, so that it can be searched over on any data set.
"""

# %%
# Disease progression of 442 patients, cut into five grades of equal size. Every model is rated by the grades of
# patients left out in five folds, and then fitted to all of them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import scale

from hullrank import NuMarginClassifier, SumOfMarginsClassifier
from hullrank.datasets import discretize
from hullrank.metrics import mean_absolute_rank_error

X, y = load_diabetes(return_X_y=True)
X, grade = scale(X), discretize(y, 5)
fractions = np.linspace(0, 1, 11)
errors, ends = {}, {}
for name, model in {"nu margin": NuMarginClassifier, "sum of margins": SumOfMarginsClassifier}.items():
    fitted = [model(fraction=fraction).fit(X, grade) for fraction in fractions]
    errors[name] = [mean_absolute_rank_error(grade, cross_val_predict(each, X, grade)) for each in fitted]
    ends[name] = np.array([each.intervals_ / each.score_samples(X).std() for each in fitted])
    best = int(np.argmin(errors[name]))
    used = [each.nu_ if name == "nu margin" else each.C_ for each in fitted]
    print(f"{name}: {'nu' if name == 'nu margin' else 'C'} from {used[0]:.3g} to {used[-1]:.3g}")
    print(f"  least mean rank error {errors[name][best]:.3f} at fraction {fractions[best]:.1f}")

# %%
# Left, what a fraction is worth on new patients. The other two pictures show the score line over the fraction, lines
# for thresholds and bands for the margins around them. Nu has one width for all margins, which grows with the fraction
# so that they overlap more and more; the sum of margins has one for every two neighbours, and these never do.
plt.style.use("seaborn-v0_8-colorblind")
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for k, name in enumerate(errors):
    axes[0].plot(fractions, errors[name], marker="o", color=f"C{k}", label=name)
    for below, above in zip(ends[name][:, :-1, 1].T, ends[name][:, 1:, 0].T, strict=True):
        axes[k + 1].fill_between(fractions, below, above, color=f"C{k}", alpha=0.2, linewidth=0)
        axes[k + 1].plot(fractions, np.transpose([below, above]), color=f"C{k}", linewidth=0.6, linestyle="--")
        axes[k + 1].plot(fractions, (below + above) / 2, color=f"C{k}")
    axes[k + 1].set_title(name)
    axes[k + 1].set_ylabel("score, in standard deviations")
axes[0].set_ylabel("mean rank error, left out")
axes[0].legend(frameon=False)
for ax in axes:
    ax.set_xlabel("fraction")
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
