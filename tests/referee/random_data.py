"""Random rows, targets, weights and queries, none of them easy."""

import numpy as np


def random_size(rng, name, has_kernel, large):
    """Rows and columns; large sizes reach what solvers do only there: samples of rows, caches, pairs never listed."""
    m = int(rng.integers(6, 41))
    n = int(rng.integers(m + 1, 61)) if rng.random() < 0.25 else int(rng.integers(1, 9))
    if not large:
        return m, n
    if "Pairs" in name or "Relaxation" in name:
        return 380 + 3 * m, min(n, 6)
    return (150 + 5 * m, min(n, 5)) if has_kernel else (1000 + 150 * m, min(n, 12))


def random_rows(rng, m, n, traits):
    """Rows with odd columns, duplicates, scale and shift; and a signal that the targets follow."""
    X = rng.normal(size=(m, n))
    if rng.random() < 0.2:
        X = np.round(X * 2)
    signal = X @ (rng.normal(size=n) / np.sqrt(n))
    if rng.random() < 0.2:
        X[:, rng.integers(n)] = float(rng.choice([0.0, 1.0, 3.7]))
        traits["constant"] = True
    if n > 1 and rng.random() < 0.15:
        X[:, rng.integers(n)] = X[:, rng.integers(n)]
        traits["collinear"] = True
    if rng.random() < 0.2:
        X[rng.integers(m, size=m // 3)] = X[rng.integers(m, size=m // 3)]
        traits["duplicates"] = True
    if rng.random() < 0.15:
        X = X * 10.0 ** rng.uniform(-4, 4, n)
        traits["columns"] = "scaled apart"
    if rng.random() < 0.3:
        X = X + rng.normal(size=n) * 10.0 ** rng.uniform(0, 6)
        traits["shift"] = True
    if rng.random() < 0.4:
        scale = 10.0 ** rng.uniform(-8, 8)
        X = X * scale
        traits["scale"] = f"{scale:.0e}"
    return X, signal


def random_targets(rng, name, signal, traits):
    """Targets that follow the signal up to noise; for hull ranking also a graph between the classes, or its name."""
    m = len(signal)
    noise = float(rng.choice([0.0, 0.3, 3.0]))
    traits["noise"] = noise
    latent = signal + noise * signal.std() * rng.normal(size=m)
    ranks = np.argsort(np.argsort(latent, kind="stable"))
    if rng.random() < 0.1 and name in ("SwappedPairsRanker", "SampledPairsRanker"):
        return np.round(latent, 1) if np.ptp(np.round(latent, 1)) > 0 else ranks, None, None
    most = min(6, m // 2)
    K = int(rng.integers(2, most + 1)) if rng.random() < 0.9 else min(m // 2, 12)
    cuts = np.sort(rng.choice(np.arange(1, m), K - 1, replace=False))
    y = np.digitize(ranks, cuts)
    kind = rng.random()
    if name != "ConvexHullRanker" or kind < 0.5:
        return y, None, "chain" if name == "ConvexHullRanker" else None
    if kind < 0.65:
        return y, None, "full"
    label = rng.permutation(K)  # an acyclic graph: edges go up in a hidden order, whatever the labels
    pairs = [(a, b) for a in range(K) for b in range(a + 1, K)]
    drawn = [pair for pair in pairs if rng.random() < 0.5] or [pairs[int(rng.integers(len(pairs)))]]
    return label[y], tuple((int(label[a]), int(label[b])) for a, b in drawn), "graph"


def random_weights(rng, m, traits):
    kind = rng.choice(["none", "near 1", "counts", "twelve orders", "zeros"], p=[0.45, 0.15, 0.1, 0.2, 0.1])
    if kind == "none":
        return None
    traits["weights"] = str(kind)
    if kind == "near 1":
        return rng.uniform(0.5, 2.0, m)
    if kind == "counts":
        return rng.integers(1, 5, m).astype(float)
    if kind == "zeros":
        return rng.uniform(0.5, 2.0, m) * (rng.random(m) < 0.7)
    return 10.0 ** rng.uniform(-6, 6, m)


def keep_classes(y, weights):
    """No class loses all of its weight."""
    if weights is not None:
        weights = weights.copy()
        for c in np.unique(y):
            if not weights[y == c].any():
                weights[np.argmax(y == c)] = 1.0
    return weights


def random_queries(rng, y, weights):
    """Query numbers, at least one of which has two targets among its samples of positive weight."""
    qid = rng.integers(0, max(2, len(y) // 8), len(y))
    alive = np.ones(len(y), bool) if weights is None else weights > 0
    low, high = np.flatnonzero(alive & (y == y[alive].min())), np.flatnonzero(alive & (y == y[alive].max()))
    qid[high[0]] = qid[low[0]]
    return qid
