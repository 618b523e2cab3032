"""
Rows on a cluster: Dask
=======================

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
for grade, colour in enumerate(plt.colormaps["viridis"](np.linspace(0.05, 0.75, 4))):
    ax.hist(found[y == grade], bins=80, histtype="stepfilled", alpha=0.55, label=f"grade {grade}", color=colour)
ax.set(xlabel="score", ylabel="rows")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
client.close()
