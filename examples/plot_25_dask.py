"""
Rows on a cluster: Dask
=======================

<<<<<<< HEAD
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
=======
``hullrank.distributed`` has the linear estimators under the same names with ``Dask`` in front. Rows stay on the
workers; sums, a sample and the few rows near a threshold come to the client. It needs
``pip install "hullrank[dask]"``.
"""

# %%
# A cluster in this process, for the example; ``Client("scheduler:8786")`` in earnest.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

from hullrank import ConvexHullRanker
from hullrank.distributed import DaskConvexHullRanker

client = Client(processes=False, dashboard_address=None)
rng = da.random.default_rng(0)
rows = rng.normal(size=(200_000, 6), chunks=(25_000, 6))
noise = rng.normal(size=200_000, chunks=25_000)
grades = da.digitize(rows @ np.array([2.0, -1.0, 0.5, 0.3, 0.0, 0.0]) + noise, np.array([-2.0, 0.0, 2.0]))

model = DaskConvexHullRanker(client=client).fit(rows, grades)
print(model.certificate_)
print(f"{model.certificate_.passes} passes over {rows.numblocks[0]} blocks")

# %%
# Scores are lazy, and ``to_local`` gives an estimator that knows nothing of Dask: to save, to export, to look at.
scores = model.score_samples(rows)
print(scores)
local = model.to_local()
X, y = rows.compute(), grades.compute()
memory = ConvexHullRanker().fit(X, y)
print(type(local).__name__, f"objectives differ by {local.certificate_.primal / memory.certificate_.primal - 1:.0e}")

found = scores.compute()
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for grade in range(4):
    ax.hist(found[y == grade], bins=80, histtype="stepfilled", alpha=0.55, label=f"grade {grade}",
            color=plt.get_cmap("viridis")(grade / 3.3))  # fmt: skip
ax.set(xlabel="score", ylabel="rows")
ax.legend(frameon=False)
client.close()
>>>>>>> main
