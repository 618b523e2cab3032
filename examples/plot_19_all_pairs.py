"""
All pairs, not some: nothing left to chance
===========================================

A ranking SVM over all pairs used to be too slow, so pairs were drawn at random (Herbrich, Graepel and
Obermayer 2000 take a few for every sample). Here all pairs take about as long, because none is ever formed,
and two fits of the same data agree.
"""

# %%
# 1500 rows with real-valued targets: 1.1 million pairs.
from time import process_time

import matplotlib.pyplot as plt
import numpy as np

from hullrank import SampledPairsRanker, SwappedPairsRanker

rng = np.random.default_rng(0)
X = rng.normal(size=(4500, 20))
y = X @ rng.normal(size=20) + 6 * rng.normal(size=4500)
train, test = slice(0, 1500), slice(1500, 4500)
SwappedPairsRanker().fit(X[:300], y[:300])  # compiles, if this is the first fit on this machine

start = process_time()
whole = SwappedPairsRanker(C=10.0).fit(X[train], y[train])
print(f"all {whole.certificate_.n_order_constraints:,} pairs: {process_time() - start:.2f} s, "
      f"relative gap {whole.certificate_.relative_gap:.0e}")  # fmt: skip

# %%
# Pair accuracy on new rows for one to twenty random partners per sample, ten draws each. The line is all
# pairs.
counts = [1, 2, 5, 10, 20]
found = [
    [
        SampledPairsRanker(k, C=10.0, random_state=seed).fit(X[train], y[train]).score(X[test], y[test])
        for seed in range(10)
    ]
    for k in counts
]
plt.style.use("seaborn-v0_8-colorblind")
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for k, values in zip(counts, found, strict=True):
    ax.plot(np.full(10, k), values, "o", ms=4, color="C0", alpha=0.6, label="one draw of pairs" if k == 1 else None)
ax.axhline(whole.score(X[test], y[test]), color="C1", label="all pairs")
ax.set(xscale="log", xlabel="random partners of every sample", ylabel="pair accuracy on new rows")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
