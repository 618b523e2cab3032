"""
Ratings: is a learned ranking better than an average?
=====================================================

A user has rated some films; what will they say of the others? Shashua and Levin (2002) describe a film by the
ratings of all other users and learn thresholds between one and five stars. Their paper compares this with
PRank. An honest comparison also asks the trivial rival: the mean rating of the film plus how generous this
user is.
"""

# %%
# A made-up table of 200 users and 400 films of low rank, half of it filled in.
import matplotlib.pyplot as plt
import numpy as np

from hullrank import FixedMarginClassifier, PRank
from hullrank.datasets import make_ratings, ratings_to_features

ratings = make_ratings(200, 400, density=0.5, noise=0.5, random_state=0)


def mean_plus_offset(user, train, test):
    """The film's mean over the other users, shifted by how far this user's known ratings lie above those means."""
    others = np.delete(ratings, user, axis=0)
    film = np.nanmean(others, axis=0)
    offset = np.mean(ratings[user, train] - film[train])
    return np.clip(np.rint(film[test] + offset), 1, 5)


def error(predicted, truth):
    return np.abs(predicted - truth).mean()


# %%
# Twenty users; for each, thirty or more of their ratings are learned and the others predicted.
sizes, users = [30, 60, 120], range(20)
found = {name: np.empty((len(sizes), len(users))) for name in ("fixed margin", "PRank", "film mean + user offset")}
for column, user in enumerate(users):
    X, y, films = ratings_to_features(ratings, user)
    shuffled = np.random.default_rng(user).permutation(len(y))
    for row, size in enumerate(sizes):
        train, test = shuffled[:size], shuffled[size:]
        models = {"fixed margin": FixedMarginClassifier(C=0.01), "PRank": PRank(average=True, random_state=0)}
        for name, model in models.items():
            found[name][row, column] = error(model.fit(X[train], y[train]).predict(X[test]), y[test])
        guessed = mean_plus_offset(user, films[train], films[test])
        found["film mean + user offset"][row, column] = error(guessed, y[test])

# %%
# Mean distance from the true rating in stars, with standard errors over users.
plt.style.use("seaborn-v0_8-colorblind")
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for i, (name, table) in enumerate(found.items()):
    mean, deviation = table.mean(axis=1), table.std(axis=1, ddof=1) / np.sqrt(len(users))
    ax.errorbar(sizes, mean, deviation, fmt="os^"[i] + "-", capsize=3, label=name, color=f"C{i}")
    print(f"{name:26}", "  ".join(f"{value:.3f}" for value in mean))
ax.set(xlabel="ratings learned from", ylabel="mean error (stars)", xticks=sizes)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
plt.show()
