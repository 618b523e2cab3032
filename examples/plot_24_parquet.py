"""
More rows than memory: Parquet files in blocks
==============================================

A folder of Parquet files need not fit into memory. ``Blocks`` reads it piece by piece: the first pass solves a
sample, the second settles the rows that are clearly on one side, the third grades the answer on all rows. The
certificate is the one that a fit in memory would have.
"""

# %%
# Six files with 40,000 rows each; in earnest they would be larger than memory.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from hullrank import FixedMarginClassifier, ScoreLineDisplay
from hullrank.datasets import make_ordinal
from hullrank.io import Blocks

folder = Path(tempfile.mkdtemp())
X, y = make_ordinal(240_000, 6, n_classes=4, noise=0.5, random_state=0)
table = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(6)}, "grade": y})
for part in range(6):
    table[40_000 * part : 40_000 * (part + 1)].write_parquet(folder / f"{part}.parquet")

# %%
# At most two megabytes of rows are held at a time.
blocks = Blocks.from_parquet(folder, target="grade", memory=2_000_000)
model = FixedMarginClassifier().fit(blocks)
print(len(blocks), "blocks")
print(model.certificate_)

# %%
# The same data in memory, for comparison: both are proven to be within their gaps of one optimum.
features = table.drop("grade")
whole = FixedMarginClassifier().fit(features, y)
print(f"objective in blocks {model.certificate_.primal:.6f}, in memory {whole.certificate_.primal:.6f}")
print(f"largest difference of weights {np.abs(model.coef_ - whole.coef_).max():.1e}")

# %%
# With so many rows the score line shows distributions instead of points.
ScoreLineDisplay.from_estimator(model, features, y)
plt.show()
