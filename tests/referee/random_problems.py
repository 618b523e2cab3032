"""Random training problems for every estimator with a certificate, each reproduced by its seed alone.

Easy data would prove little: there are more columns than rows, duplicates, constant columns, weights over twelve orders
of magnitude, scales from 1e-8 to 1e8, shifts, and prices of slack from 1e-6 to 1e8 and infinite.
"""

import warnings
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

import hullrank
from referee.random_data import (
    keep_classes,
    random_queries,
    random_rows,
    random_size,
    random_targets,
    random_weights,
)

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


def knows_logistic(name):
    """Whether the estimator takes loss="logistic"; where it does not, that draw falls back to the hinge."""
    accepted = getattr(hullrank, name)._parameter_constraints.get("loss", [])
    return any("logistic" in getattr(options, "options", ()) for options in accepted)


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

    @property
    def given(self):
        """The rows as they are handed over, and weights and queries by name."""
        extra = {"sample_weight": self.weights, "qid": self.qid}
        X = sp.csr_array(self.X) if self.is_sparse else self.X
        return X, {name: value for name, value in extra.items() if value is not None}

    def fit(self):
        """The estimator after its fit."""
        (X, extra), model = self.given, self.model()
        if self.params.get("warm_start") and np.isfinite(self.params["C"]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
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
    traits = {"large": True} if large else {}
    wants_kernel = name != "LinearRelaxationRanker" and rng.random() < 0.4
    m, n = random_size(rng, name, wants_kernel, large)
    X, signal = random_rows(rng, m, n, traits)
    y, edges, order = random_targets(rng, name, signal, traits)
    weights = random_weights(rng, m, traits) if name != "SampledPairsRanker" else None
    weights = keep_classes(y, weights)
    params = _parameters(rng, name, X, y)
    if order is not None and edges is None:
        params["order"] = order
    qid = None
    if "Pairs" in name or "Relaxation" in name:
        qid = random_queries(rng, y, weights) if rng.random() < 0.4 else None
    if name != "LinearRelaxationRanker":
        X = _kernel(rng, params, X, wants_kernel)
    if name == "ConvexHullRanker":
        _hull_choices(rng, params)
    _rare_choices(np.random.default_rng([16, seed, 1]), name, params)
    if len(X) > 1000:  # the referee would have to write down the whole kernel
        params.pop("approximation", None)
    is_sparse = params.get("kernel") != "precomputed" and rng.random() < 0.1
    return Case(seed, name, params, X, y, weights, qid, is_sparse, edges, traits)


def _rare_choices(rng, name, params):
    """Options that seldom matter: a warm start, a small cache of kernel rows, the named approximation."""
    class_based = "Pairs" not in name and "Relaxation" not in name
    if "kernel" in params and class_based and rng.random() < 0.1:
        params["cache_size"] = 0.001
    if "approximation" in params and rng.random() < 0.1:
        params["approximation"] = "nystroem"
    if "kernel" in params and name == "FixedMarginClassifier" and rng.random() < 0.2:
        params["warm_start"] = True


def _parameters(rng, name, X, y):
    """Everything but the kernel and what is peculiar to hull ranking."""
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
        chosen = {"C": float(10.0 ** rng.uniform(-2.5, 1))} if rng.random() < 0.4 else {}
        return params | chosen | {"class_weight": "balanced" if rng.random() < 0.5 else None}
    params["C"] = _price(rng, name, X)
    loss = str(rng.choice(["hinge", "squared_hinge", "logistic"], p=[0.4, 0.4, 0.2]))
    if loss == "logistic" and (np.isinf(params["C"]) or not knows_logistic(name)):
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


def _kernel(rng, params, X, wanted):
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
