"""
The best AUC there is, against logistic regression
==================================================

Logistic regression, the ranking SVM and boosting minimise convex stand-ins for misranked pairs.
``ExactRanker`` minimises the misranked pairs themselves and proves that no linear score does better. Usually
the difference is small. On data whose features have very different ROC curves (as in Bertsimas, Chang and
Rudin 2010) it is not.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.preprocessing import StandardScaler

from hullrank import ExactRanker, SwappedPairsRanker
from hullrank.datasets import make_roc_flexibility

X, y = make_roc_flexibility(500, random_state=0)
X = StandardScaler().fit_transform(X)[:, [0, 2, 3]]
train, test = slice(0, 250), slice(250, 500)

exact = ExactRanker(time_limit=None, max_cells=200_000).fit(X[train], y[train])
print(exact.certificate_)

# %%
# The proof is about the training rows. Whether the gain carries over is seen on others.
models = {
    "logistic regression": LogisticRegression(C=1e6).fit(X[train], y[train]).decision_function,
    "all-pairs SVM": SwappedPairsRanker(C=1e3).fit(X[train], y[train]).score_samples,
    "exact": exact.score_samples,
}
plt.style.use("seaborn-v0_8-colorblind")
fig, axes = plt.subplots(1, 2, figsize=(7.4, 3.8), layout="constrained", sharey=True)
for ax, rows, title in zip(axes, (train, test), ("training rows", "new rows"), strict=True):
    for i, (name, score) in enumerate(models.items()):
        false, true, _ = roc_curve(y[rows], score(X[rows]))
        area = roc_auc_score(y[rows], score(X[rows]))
        ax.plot(false, true, color=f"C{i}", lw=1.8, ls=("--", ":", "-")[i], label=f"{name}  {area:.3f}")
        print(f"{title:14} {name:20} AUC {area:.4f}")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    ax.set(xlabel="false positive rate", title=title, aspect="equal")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
axes[0].set_ylabel("true positive rate")
plt.show()
