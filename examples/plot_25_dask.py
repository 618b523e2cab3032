"""
Rows on a cluster: Dask
=======================

The Dask estimators take Dask arrays or frames: rows stay where they are, on the workers, and only sums travel. The
problem and the certificate are those of the estimators without Dask. It needs ``pip install "hullrank[dask]"``.
"""

# %%
# The client of a cluster would do as well; here the workers are threads of this process.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from distributed import Client
from hullrank import FixedMarginClassifier
from hullrank.datasets import make_ordinal
from hullrank.distributed import DaskFixedMarginClassifier

X, y = make_ordinal(60_000, 6, n_classes=4, noise=0.5, random_state=0)
rows, grades = da.from_array(X, chunks=(10_000, 6)), da.from_array(y, chunks=10_000)
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    model = DaskFixedMarginClassifier().fit(rows, grades)
print(model.certificate_)

# %%
# One machine and many give the same weights, up to the tolerance.
local = FixedMarginClassifier().fit(X, y)
print(f"largest difference of weights {np.abs(model.coef_ - local.coef_).max():.1e}")
fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
places = np.arange(6)
ax.bar(places - 0.2, local.coef_, 0.4, label="in memory", color="#0072b2")
ax.bar(places + 0.2, model.coef_, 0.4, label="on Dask's workers", color="#d55e00")
ax.set_xticks(places, [f"x{j}" for j in places])
ax.axhline(0, color="0.6", lw=0.8)
ax.set_ylabel("weight")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
