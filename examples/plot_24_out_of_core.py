"""
More rows than memory: Parquet, block by block
==============================================

``Blocks`` stand in the place of X and y: a fit reads them in a few passes and holds only a sample and the rows near a
threshold. The answer is that of all rows, with the same certificate.
"""

# %%
# A folder of Parquet files, as a database might export them: 400,000 rows, with a word and some gaps.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from hullrank import FixedMarginClassifier
from hullrank.io import Blocks, TableEncoder

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for part in range(8):
    rows = 50_000
    size, age = rng.normal(size=rows), rng.integers(20, 80, rows).astype(float)
    region = rng.choice(["north", "south", "coast"], rows)
    value = size + 0.02 * age + (region == "coast") + rng.normal(size=rows)
    age[rng.random(rows) < 0.05] = np.nan
    grade = np.digitize(value, [0.5, 1.5, 2.5])
    frame = pl.DataFrame({"size": size, "age": age, "region": region, "grade": grade})
    frame.write_parquet(folder / f"grades-{part}.parquet")

# %%
# The columns (medians, scales, words) are learned in a first pass. Here a fit may hold 1 MB of rows, of the 16 MB
# that they take.
encoder = TableEncoder()
blocks = Blocks.from_parquet(folder / "*.parquet", target="grade", encoder=encoder, memory=1 << 20)
model = FixedMarginClassifier().fit(blocks)
print(model.certificate_)
print(f"{len(blocks)} blocks, {model.certificate_.passes} passes")

# %%
# The same with all rows in memory.
whole = pl.read_parquet(folder / "*.parquet")
X, y = encoder.transform(whole.drop("grade")), whole["grade"].to_numpy()
memory = FixedMarginClassifier().fit(X, y)
print(f"objectives differ by {model.certificate_.primal / memory.certificate_.primal - 1:.0e}")
names = encoder.get_feature_names_out()
plt.style.use("seaborn-v0_8-colorblind")
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
places = np.arange(len(names))
ax.barh(places - 0.2, memory.coef_, 0.38, label="all rows in memory", color="C0")
ax.barh(places + 0.2, model.coef_, 0.38, label="1 MB of rows at a time", color="C2")
ax.set_yticks(places, names)
ax.set_xlabel("weight")
ax.axvline(0, color="0.4", lw=0.8)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# On the command line: ``hullrank fit 'grades/*.parquet' --target grade --memory 2GiB``; ``rank`` and ``evaluate`` take
# ``--memory`` too.
