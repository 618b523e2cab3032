"""
Turning images with few labels
==============================

Images of a bar that turns, 12 x 12 noisy pixels each. Forty of eight hundred are labelled with the quarter of the turn.
The images lie on a curve through 144 dimensions, and ``SemiSupervised`` lets the score change slowly along it: rows
without a label enter through the graph of nearest rows, as a change of inner product. The certificate stays.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, SemiSupervised

rng = np.random.default_rng(3)
n, size = 800, 12
angle = rng.uniform(0, np.pi, n)
x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
turn = angle[:, None, None]
along, across = x * np.cos(turn) + y * np.sin(turn), x * np.sin(turn) - y * np.cos(turn)
images = np.exp(-((across / 0.2) ** 2)) * (1 + 0.5 * along) + 0.15 * rng.normal(size=(n, size, size))
X, grade = images.reshape(n, -1), np.digitize(angle, np.pi * np.array([0.25, 0.5, 0.75]))
few = np.zeros(n, dtype=bool)
few[rng.choice(n, 40, replace=False)] = True

inner = FixedMarginClassifier(C=10, kernel="rbf", loss="squared_hinge", thresholds="all")
alone = inner.fit(X[few], grade[few])
model = SemiSupervised(inner, strength=30.0).fit(X[few], grade[few], unlabeled=X[~few])
for title, fitted in (("40 labels", alone), ("40 labels and 760 images without", model)):
    print(f"{title}: {fitted.score(X[~few], grade[~few]):.1%} of the other images right")
print(model.certificate_.status, f"{model.certificate_.relative_gap:.1e}")

# %%
# The score against the angle: with the graph it follows the turn, also where no label is near.
figure = plt.figure(figsize=(8, 5), layout="constrained")
top = figure.add_gridspec(2, 6, height_ratios=[1, 3])
for k, degrees in enumerate(np.linspace(10, 170, 6)):
    ax = figure.add_subplot(top[0, k])
    nearest = np.argmin(np.abs(np.rad2deg(angle) - degrees))
    ax.imshow(images[nearest], cmap="gray_r")
    ax.set_title(f"{np.rad2deg(angle[nearest]):.0f}°", fontsize="small")
    ax.set_axis_off()
colours = plt.colormaps["viridis"](np.linspace(0.05, 0.75, 4))
parts = (("labels only", alone.score_samples(X)), ("with unlabelled images", model.score_samples(X)))
for k, (title, scores) in enumerate(parts):
    ax = figure.add_subplot(top[1, 3 * k : 3 * k + 3])
    ax.scatter(np.rad2deg(angle[~few]), scores[~few], s=6, color="#9aa0a8", label="no label")
    for quarter, colour in enumerate(colours):
        own = few & (grade == quarter)
        ax.scatter(np.rad2deg(angle[own]), scores[own], s=26, color=colour, label=f"labelled {quarter}")
    ax.set_title(title)
    ax.set_xlabel("angle in degrees")
    ax.set_ylabel("score" if k == 0 else "")
    ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
