"""
Search results: queries and NDCG
================================

Forty searches, each with its results and their relevance from 0 to 3. Only the order *within* a search counts:
results of different searches are never compared, and the certificate counts only those pairs.
``hullrank sample searches.csv`` writes this table.
"""

# %%
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

from hullrank import SwappedPairsRanker
from hullrank.io import read_table
from hullrank.metrics import ndcg_score, swapped_pairs
from hullrank.plots import ScoreLineDisplay

table = read_table(files("hullrank") / "datasets" / "tables" / "searches.csv")
qid, y = table["query"].to_numpy(), table["relevance"].to_numpy()
X = np.column_stack([table["title_match"], table["text_match"], np.log1p(table["age_days"]), np.log1p(table["clicks"])])
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# Whole searches are left out in turn. ``SwappedPairsRanker`` minimises swapped pairs within queries; ridge
# regression predicts the relevance of each result by itself. ``pair_weight="ndcg"`` weighs a pair by what swapping it
# would cost in NDCG, so that the top of the list counts most.
models = {
    "pairs within queries": (SwappedPairsRanker(C=10.0), True),
    "the same, weighed for the top": (SwappedPairsRanker(C=10.0, pair_weight="ndcg"), True),
    "pairs, queries ignored": (SwappedPairsRanker(C=10.0), False),
    "regression on relevance": (Ridge(), False),
}
results = {name: [] for name in models}
for train, test in GroupKFold(8).split(X, y, qid):
    for name, (model, uses_queries) in models.items():
        model.fit(X[train], y[train], **({"qid": qid[train]} if uses_queries else {}))
        scores, fold = model.predict(X[test]), {"qid": qid[test]}
        right = 1 - swapped_pairs(y[test], scores, **fold)
        results[name].append([right, *(ndcg_score(y[test], scores, k=k, **fold) for k in (3, 5, 10))])

# %%
# Means over the folds, with standard errors. Guessing would put half of the pairs right. The four do not differ
# measurably here: these features mean the same in all searches, so that ignoring the queries costs little.
plt.style.use("seaborn-v0_8-colorblind")
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
places = np.arange(4)
for i, (name, rows) in enumerate(results.items()):
    mean, error = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows))
    ax.errorbar(places + 0.12 * (i - 1.5), mean, error, fmt="osv^"[i], capsize=3, label=name, color=f"C{i}")
    print(f"{name:30}", "  ".join(f"{value:.3f}" for value in mean))
ax.set_xticks(places, ["pairs right", "NDCG at 3", "NDCG at 5", "NDCG at 10"])
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")

# %%
# A row for every query; colour is the relevance. The most relevant results should lie on the right of their
# row.
ranker = SwappedPairsRanker(C=10.0).fit(X, y, qid=qid)
ScoreLineDisplay.from_estimator(ranker, X, y, qid=qid)
plt.show()
