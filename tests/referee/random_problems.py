"""Random training problems for every estimator with a certificate, each reproduced by its seed alone.

Easy data would prove little: there are more columns than rows, duplicates, constant columns, weights over twelve orders
of magnitude, scales from 1e-8 to 1e8, shifts, and prices of slack from 1e-6 to 1e8 and infinite.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

import hullrank

# The estimators that know loss="logistic"; for the others that draw falls back to the hinge.
LOGISTIC: frozenset[str] = frozenset()

NAMES = (
    "ConvexHullRanker",
    "FixedMarginClassifier",
    "NuMarginClassifier",
    "SumOfMarginsClassifier",
    "SwappedPairsRanker",
    "SampledPairsRanker",
    "LinearRelaxationRanker",
)
_SHARES = (0.34, 0.24, 0.08, 0.08, 0.14, 0.07, 0.05)


@dataclass(frozen=True)
class Case:
    """A fit: the estimator with its parameters, and the data; ``edges`` (labels lo, hi) where the order is a graph.

    With ``warm_start`` the fit is the second of two, after one at a seventh of C.
    """

    seed: int
    name: str
    params: dict
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None
    qid: np.ndarray | None = None
    is_sparse: bool = False
    edges: tuple | None = None
    traits: dict = field(default_factory=dict)

    def model(self):
        """The estimator before its fit."""
        params = dict(self.params)
        if self.edges is not None:
            params["order"] = hullrank.OrderGraph.from_edges(self.edges, labels=sorted(set(self.y.tolist())))
        return getattr(hullrank, self.name)(**params)

    def fit(self):
        """The estimator after its fit."""
        extra = {}
        if self.weights is not None:
            extra["sample_weight"] = self.weights
        if self.qid is not None:
            extra["qid"] = self.qid
        X, model = sp.csr_array(self.X) if self.is_sparse else self.X, self.model()
        if self.params.get("warm_start") and np.isfinite(self.params["C"]):
            model.set_params(C=self.params["C"] / 7).fit(X, self.y, **extra).set_params(C=self.params["C"])
        return model.fit(X, self.y, **extra)

    def __str__(self):
        traits = " ".join(f"{key}={value}" for key, value in self.traits.items())
        params = ", ".join(f"{key}={value!r}" for key, value in self.params.items())
        order = f" edges={list(self.edges)}" if self.edges is not None else ""
        return f"seed {self.seed}: {self.name}({params}) on {self.X.shape[0]} x {self.X.shape[1]}{order} {traits}"


def random_case(seed, only=None, large=False):
    """The problem number ``seed``; ``only`` keeps to one estimator, ``large`` means hundreds or thousands of rows."""
    rng = np.random.default_rng([16, seed])
    name = str(rng.choice(NAMES, p=_SHARES))
    name = only or name
    traits = {}
    wants_kernel = name != "LinearRelaxationRanker" and rng.random() < 0.4
    m, n = _size(rng, name, wants_kernel, large)
    X, signal = _rows(rng, m, n, traits)
    y, edges, order = _targets(rng, name, signal, traits)
    weights = _weights(rng, m, traits) if name != "SampledPairsRanker" else None
    X, weights = _keep_classes(X, y, weights)
    params = _parameters(rng, name, X, y, traits)
    if order is not None and edges is None:
        params["order"] = order
    qid = None
    if "Pairs" in name or "Relaxation" in name:
        qid = _queries(rng, y, weights) if rng.random() < 0.4 else None
    if name != "LinearRelaxationRanker":
        X = _kernel(rng, params, X, wants_kernel, traits)
    if name == "ConvexHullRanker":
        _hull_choices(rng, params)
    _rare_choices(np.random.default_rng([16, seed, 1]), name, params)
    if len(X) > 1000:  # the referee would have to write down the whole kernel
        params.pop("approximation", None)
    is_sparse = params.get("kernel") != "precomputed" and rng.random() < 0.1
    return Case(seed, name, params, X, y, weights, qid, is_sparse, edges, traits)


def _size(rng, name, has_kernel, large):
    """Rows and columns; large sizes reach what solvers do only there: samples of rows, caches, pairs never listed."""
    m = int(rng.integers(6, 41))
    n = int(rng.integers(m + 1, 61)) if rng.random() < 0.25 else int(rng.integers(1, 9))
    if not large:
        return m, n
    if "Pairs" in name or "Relaxation" in name:
        return 380 + 3 * m, min(n, 6)
    return (150 + 5 * m, min(n, 5)) if has_kernel else (1000 + 150 * m, min(n, 12))


def _rare_choices(rng, name, params):
    """Options that seldom matter: a warm start, a small cache of kernel rows, the named approximation."""
    class_based = "Pairs" not in name and "Relaxation" not in name
    if "kernel" in params and class_based and rng.random() < 0.1:
        params["cache_size"] = 0.001
    if "approximation" in params and rng.random() < 0.1:
        params["approximation"] = "nystroem"
    if "kernel" in params and name == "FixedMarginClassifier" and rng.random() < 0.2:
        params["warm_start"] = True


def _rows(rng, m, n, traits):
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


def _targets(rng, name, signal, traits):
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


def _weights(rng, m, traits):
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


def _keep_classes(X, y, weights):
    """No class loses all of its weight."""
    if weights is not None:
        weights = weights.copy()
        for c in np.unique(y):
            if not weights[y == c].any():
                weights[np.argmax(y == c)] = 1.0
    return X, weights


def _parameters(rng, name, X, y, traits):
    params = {}
    if rng.random() < 0.25 and name != "LinearRelaxationRanker":
        params["tol"] = float(rng.choice([1e-3, 1e-8, 1e-10]))
    if rng.random() < 0.05 and name != "LinearRelaxationRanker":
        params["max_iter"] = int(rng.integers(1, 6))
    if name == "LinearRelaxationRanker":
        return {"epsilon": float(rng.choice([1e-4, 1e-3, 1e-2, 0.3]))}
    if name == "NuMarginClassifier":
        return params | ({"nu": float(rng.uniform(0.02, 1))} if rng.random() < 0.4 else {})
    if name == "SumOfMarginsClassifier":
        return params | ({"C": float(10.0 ** rng.uniform(-2.5, 1))} if rng.random() < 0.4 else {})
    params["C"] = _price(rng, name, X)
    loss = str(rng.choice(["hinge", "squared_hinge", "logistic"], p=[0.4, 0.4, 0.2]))
    if loss == "logistic" and (name not in LOGISTIC or np.isinf(params["C"])):
        loss = "hinge"
    params["loss"] = loss
    if name == "FixedMarginClassifier":
        params["thresholds"] = str(rng.choice(["immediate", "all"]))
    if name == "SwappedPairsRanker" and rng.random() < 0.3:
        params["query_weight"] = "equal"
    if name == "SampledPairsRanker":
        params |= {"random_state": int(rng.integers(1000)), "pairs_per_sample": int(rng.integers(1, 6))}
    if name in ("ConvexHullRanker", "FixedMarginClassifier") and rng.random() < 0.2:
        drawn = {int(c): float(10.0 ** rng.uniform(-1, 1)) for c in np.unique(y)}
        params["class_weight"] = "balanced" if rng.random() < 0.5 else drawn
    return params


def _price(rng, name, X):
    """C: anything from 1e-6 to 1e8, or what matters at the scale of X, or infinite."""
    kind = rng.random()
    if kind < 0.1 and "Pairs" not in name:
        return np.inf
    if kind < 0.5:
        spread = float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
        return float(np.clip(10.0 ** rng.uniform(-3, 4) / spread, 1e-6, 1e8)) if spread > 0 else 1.0
    return float(10.0 ** rng.uniform(-6, 8))


def _kernel(rng, params, X, wanted, traits):
    """Kernel parameters; a precomputed kernel takes the place of X."""
    if not wanted:
        if rng.random() < 0.08:
            params["approximation"] = int(rng.integers(2, 12))
        return X
    kernel = str(rng.choice(["linear", "rbf", "poly", "laplacian", "precomputed"], p=[0.1, 0.35, 0.2, 0.15, 0.2]))
    if kernel == "precomputed":
        Z = (X - X.mean(axis=0)) / (X.std() or 1.0)
        K = Z @ Z.T + float(rng.choice([0.0, 1.0, 100.0]))
        if rng.random() < 0.5:
            K = np.exp(-0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2) * rng.uniform(0.05, 2))
        params["kernel"] = kernel
        return (K + K.T) / 2 * 10.0 ** rng.uniform(-4, 4)
    params["kernel"] = kernel
    if kernel != "linear" and rng.random() < 0.5:
        params["gamma"] = "auto" if rng.random() < 0.3 else float(10.0 ** rng.uniform(-3, 1) / (X.var() or 1.0))
    if kernel == "poly":
        params |= {"degree": int(rng.integers(1, 5)), "coef0": float(rng.choice([0.0, 1.0, 10.0]))}
    if rng.random() < 0.2:
        params["approximation"] = int(rng.integers(2, 12))
    return X


def _hull_choices(rng, params):
    """Intervals, slack, penalty and norm, left at what can be combined."""
    params["intervals"] = str(rng.choice(["proper", "free"], p=[0.6, 0.4]))
    params["slack"] = str(rng.choice(["sample", "edge"], p=[0.7, 0.3]))
    if params["loss"] == "logistic":
        params["intervals"] = "proper"
    approximated, has_kernel = "approximation" in params, "kernel" in params
    if not has_kernel and not approximated and rng.random() < 0.25:
        params["penalty"] = "l1"
    if has_kernel and not approximated and rng.random() < 0.3:
        params["norm"] = "coefficient"


def _queries(rng, y, weights):
    """Query numbers, at least one of which has two targets among its samples of positive weight."""
    qid = rng.integers(0, max(2, len(y) // 8), len(y))
    alive = np.ones(len(y), bool) if weights is None else weights > 0
    low, high = np.flatnonzero(alive & (y == y[alive].min())), np.flatnonzero(alive & (y == y[alive].max()))
    qid[high[0]] = qid[low[0]]
    return qid
