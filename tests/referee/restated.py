"""The independent statement of a random problem, and the point of it that a fitted model predicts with."""

import numpy as np

from referee import statements
from referee.objective import Long, kernel_values, resolved_gamma


class Restated:
    """Samples of positive weight, their classes and weights, and what the model predicts from, as the problem says.

    ``kept`` are the numbers of the samples in the data. ``model`` settles what the fit chose itself: the topological
    order of the classes, nu, C and the draw of random pairs.
    """

    def __init__(self, case, model=None):
        self.case, self.model = case, model
        given = np.ones(len(case.y)) if case.weights is None else case.weights
        self.kept = np.flatnonzero(given)
        self.weights = given[self.kept]
        self.y = case.y[self.kept]
        self.labels = model.classes_.tolist() if hasattr(model, "classes_") else np.unique(self.y).tolist()
        self.place = {label: code for code, label in enumerate(self.labels)}
        self.codes = np.array([self.place[label] for label in self.y.tolist()]) if self._has_classes else None
        self._weigh_classes()

    @property
    def _has_classes(self):
        return "Pairs" not in self.case.name and "Relaxation" not in self.case.name

    def _weigh_classes(self):
        given = self.case.params.get("class_weight")
        if given == "balanced":
            self.weights = self.weights * statements.balanced_weights(self.codes, self.weights)[self.codes]
        elif given is not None:
            self.weights = self.weights * np.array([given[label] for label in self.labels])[self.codes]

    def features(self):
        """X, or the kernel matrix with how far float64 may be from it; both of the kept samples."""
        case, params = self.case, self.case.params
        precomputed = params.get("kernel") == "precomputed"
        X = case.X[np.ix_(self.kept, self.kept)] if precomputed else case.X[self.kept]
        if not has_kernel(params):
            return X, {}
        kernel, gamma = params.get("kernel", "linear"), 1.0
        if kernel not in ("precomputed", "linear"):
            gamma = self._gamma(X)
        K, doubt = kernel_values(
            X, kernel, gamma=gamma, degree=params.get("degree", 3), coef0=params.get("coef0", 0.0),
            centred=not case.is_sparse,
        )  # fmt: skip
        return K, {"is_kernel": params.get("norm") != "coefficient", "doubt": doubt}

    def _gamma(self, X):
        """The number behind gamma; that of the model where it is the same but for digits lost to a shift."""
        own = resolved_gamma(self.case.params.get("gamma", "scale"), X, self.weights)
        theirs = getattr(self.model, "gamma_", own)
        return theirs if abs(theirs - own) <= 1e-6 * own else own

    def statement(self):
        """The problem; parameters that are "auto" need the model."""
        features, options = self.features()
        build = {
            "ConvexHullRanker": self._hull,
            "FixedMarginClassifier": self._fixed,
            "NuMarginClassifier": self._nu,
            "SumOfMarginsClassifier": self._sum,
            "SwappedPairsRanker": self._pairs,
            "SampledPairsRanker": self._sampled,
            "LinearRelaxationRanker": self._relaxation,
        }
        return build[self.case.name](features, options)

    def edges(self):
        """Edges of the order as class codes."""
        if self.case.edges is not None:
            return [(self.place[lo], self.place[hi]) for lo, hi in self.case.edges]
        K = len(self.labels)
        if self.case.params["order"] == "full":
            return [(a, b) for a in range(K) for b in range(a + 1, K)]
        return [(c, c + 1) for c in range(K - 1)]

    def _hull(self, features, options):
        p = self.case.params
        return statements.hull(
            features, self.codes, self.weights, self.edges(), p["C"], loss=p["loss"], intervals=p["intervals"],
            slack=p["slack"], penalty=p.get("penalty", "l2"), **options,
        )  # fmt: skip

    def _fixed(self, features, options):
        p = self.case.params
        return statements.fixed_margin(
            features, self.codes, self.weights, p["C"], loss=p["loss"], thresholds=p["thresholds"], **options
        )

    def _nu(self, features, options):
        nu = self.case.params["nu"] if self.model is None else self.model.nu_
        return statements.nu_margin(features, self.codes, self.weights, nu, **options)

    def _sum(self, features, options):
        C = self.case.params["C"] if self.model is None else self.model.C_
        return statements.sum_of_margins(features, self.codes, self.weights, C, **options)

    def _queries(self):
        return np.zeros(len(self.kept), int) if self.case.qid is None else self.case.qid[self.kept]

    def _pairs(self, features, options):
        p = self.case.params
        equal = p.get("query_weight") == "equal"
        above, below, mass = statements.all_pairs(self.y, self.weights, self._queries(), equal_queries=equal)
        return statements.pairs(features, above, below, mass, p["C"], loss=p["loss"], **options)

    def _sampled(self, features, options):
        """Which pairs are drawn is no claim of the certificate, so the library repeats the draw from its seed."""
        from hullrank.problem.pairs import random_pairs

        p = self.case.params
        codes, query = (np.unique(part, return_inverse=True)[1] for part in (self.y, self._queries()))
        seed = p["random_state"] if self.model is None else self.model.seed_
        rows, drawn = random_pairs(codes, query, p["pairs_per_sample"], np.random.RandomState(seed))
        above, below = rows[drawn.hi], rows[drawn.lo]
        if np.any(self.y[above] <= self.y[below]) or np.any(self._queries()[above] != self._queries()[below]):
            raise AssertionError("a drawn pair does not compare")
        mass = np.full(len(above), 1.0 / len(above))
        return statements.pairs(features, above, below, mass, p["C"], loss=p["loss"], **options)

    def _relaxation(self, features, options):
        above, below, _ = statements.all_pairs(self.y, self.weights, self._queries())
        mass = self.weights[above] * self.weights[below]
        return statements.relaxation(features, above, below, mass, self.case.params["epsilon"])

    def scores(self):
        """What the fitted model predicts for the kept samples, in the units of the statement."""
        scores = self.model.score_samples(self.case.X)[self.kept]
        return scores / self.case.params["epsilon"] if "Relaxation" in self.case.name else scores

    def point(self, st):
        """Weights (or kernel coefficients of the kept samples) and thresholds of the fitted model."""
        model, name = self.model, self.case.name
        w = self._weights()
        if name in ("FixedMarginClassifier", "NuMarginClassifier"):
            theta = np.asarray(model.thresholds_, float)
            return w, np.append(theta, model.margin_) if st.has_rho else theta
        if name == "SumOfMarginsClassifier":
            return w, np.stack([model.intervals_[:-1, 1], model.intervals_[1:, 0]], axis=1).ravel()
        if name != "ConvexHullRanker":
            return w, np.zeros(0)
        if self.case.params["slack"] == "edge":
            known = getattr(model, "edge_thresholds_", None)
            return w, np.asarray(known, float) if known is not None else best_thresholds(st, w)
        lower, upper = statements.interval_ends(self.edges())
        return w, np.concatenate([model.intervals_[lower, 0], model.intervals_[upper, 1]])

    def _weights(self):
        if hasattr(self.model, "coef_"):
            w = np.asarray(self.model.coef_, float).ravel()
            return w / self.case.params["epsilon"] if "Relaxation" in self.case.name else w
        full = np.zeros(len(self.case.y))
        full[self.model.support_] = self.model.dual_coef_[0]
        return full[self.kept]


def has_kernel(params):
    """Whether the model predicts with kernel values."""
    return params.get("kernel", "linear") != "linear" or "approximation" in params or "norm" in params


def best_thresholds(st, w):
    """The threshold of every edge that charges least at the scores of w: the root of a rising slope, by bisection."""
    own, edge = (np.asarray(st.features, Long) @ np.asarray(w, Long))[st.sample], st.reference - st.m
    reach = np.abs(own).max() + 2
    low, high = np.full(st.n_thresholds, -reach), np.full(st.n_thresholds, reach)
    hard = not len(st.cost)
    cost = np.ones(len(own)) if hard else st.cost[st.slack]
    for _ in range(140):
        middle = (low + high) / 2
        z = st.sign * (own - middle[edge]) - st.offset
        if hard or st.charge == "squared_hinge":
            pull = 2 * np.maximum(-z, 0)
        else:
            pull = (z < 0) * 1.0 if st.charge == "hinge" else 1 / (1 + np.exp(z))
        slope = np.zeros(st.n_thresholds, Long)
        np.add.at(slope, edge, st.sign * cost * pull)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return (low + high) / 2
