"""
From Python to anywhere: ONNX
=============================

``export_onnx`` writes a pipeline (scaling, score, thresholds, probabilities) as one graph that runs in C++,
Java, JavaScript or a database, without Python and without hullrank. It needs ``pip install
"hullrank[onnx]"``.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import FixedMarginClassifier
from hullrank.datasets import make_ordinal
from hullrank.io import export_onnx

X, y = make_ordinal(600, 4, n_classes=4, noise=0.3, random_state=0)
model = make_pipeline(StandardScaler(), FixedMarginClassifier(kernel="rbf")).fit(X, y)

path = Path(tempfile.mkdtemp()) / "model.onnx"
export_onnx(model, path)
session = onnxruntime.InferenceSession(path)
rows = X.astype(np.float32)
outputs = session.run(None, {session.get_inputs()[0].name: rows})
found = dict(zip([output.name for output in session.get_outputs()], outputs, strict=True))
print({name: values.shape for name, values in found.items()}, f"{path.stat().st_size / 1024:.0f} kB")

# %%
# The graph takes single precision and computes in double, so that its scores agree with those of the same
# rows in Python to rounding, and its labels are the same.
expected, scores = model.score_samples(rows.astype(np.float64)), found["scores"].ravel()
print(f"largest difference of scores {np.abs(scores - expected).max():.1e}")
print(f"labels that agree: {(found['label'].ravel() == model.predict(rows.astype(np.float64))).mean():.1%}")
fig, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
colours = plt.colormaps["viridis"](np.linspace(0.05, 0.75, 4))
for grade, colour in enumerate(colours):
    ax.scatter(expected[y == grade], scores[y == grade], s=8, color=colour, label=f"grade {grade}")
ax.axline((0, 0), slope=1, color="0.6", lw=0.8, zorder=0)
ax.set(xlabel="score in Python", ylabel="score in ONNX Runtime", aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right", markerscale=2)
plt.show()
