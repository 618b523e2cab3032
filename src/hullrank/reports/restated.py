"""The problem that a fitted model solved, stated again from its attributes and the training data.

Parameters that the fit chose itself (nu, C, gamma, the draw of the pairs) are those of the model, so that what is
certified is the problem the model says it solved.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hullrank.data import Samples, check_weights
from hullrank.exceptions import HullrankError
from hullrank.models.margins import CHARGES
from hullrank.problem.intervals import (
    IntervalProblem,
    fixed_margin_problem,
    nu_margin_problem,
    nu_row_weight,
    sum_of_margins_problem,
)
from hullrank.problem.kernels import Gram
from hullrank.problem.pair_sets import Pairs
from hullrank.problem.pairs import every_pair, random_pairs
from hullrank.reports.edge_thresholds import best_edge_thresholds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class IntervalStatement:
    """An interval problem over samples, and where the model says its thresholds are.

    ``rows`` are the samples' numbers in the data; ``coef`` are the model's weights, or its kernel coefficients by
    sample (0 everywhere if the support vectors are other rows than those of the data).
    """

    problem: IntervalProblem
    samples: Samples
    rows: Ints
    coef: Floats
    theta: Floats
    twin: Any

    def gram(self) -> Gram:
        """The kernel between the samples."""
        gram: Gram = self.twin._gram(self.samples)
        return gram


@dataclass(frozen=True)
class PairStatement:
    """Pairs among ``rows`` of the checked data X, and the model's weights or kernel coefficients (by row)."""

    X: Any
    rows: Ints
    pairs: Pairs
    weights: Floats
    coef: Floats
    twin: Any

    def gram(self) -> Gram:
        """The kernel between the rows."""
        gram: Gram = self.twin._pair_gram(self.X, self.weights).take(self.rows)
        return gram


def restate_intervals(model: Any, X: Any, y: Any, sample_weight: Any) -> IntervalStatement:
    """The interval problem of a class-based model."""
    twin = _twin(model)
    _, _, samples = twin._check_samples(X, y, sample_weight, model.order_)
    problem = _interval_problem(model, samples)
    coef = model.coef_ if hasattr(model, "coef_") else _by_row(model, twin._rows)
    theta = _thresholds(model, problem, samples, twin._rows, X)
    if type(model).__name__ == "SumOfMarginsClassifier":  # solved with 1/2 |w|^2, whose optimum is a multiple
        coef, theta = _multiple(model, problem, samples, twin._rows, X, coef, theta)
    return IntervalStatement(problem, samples, twin._rows, coef, theta, twin)


def restate_pairs(model: Any, X: Any, y: Any, sample_weight: Any, qid: Any) -> PairStatement:
    """The pair problem of a model over all pairs, or over the pairs that it drew."""
    twin = _twin(model)
    X, codes, query = twin._check(X, y, qid)
    weights = check_weights(sample_weight, X)
    if hasattr(model, "pairs_per_sample"):
        if not hasattr(model, "seed_"):
            raise HullrankError("this model has not recorded the seed of its random pairs; fit it again to certify it")
        rows, pairs = random_pairs(codes, query, model.pairs_per_sample, np.random.RandomState(model.seed_))
    else:
        rows, pairs = every_pair(codes, query, weights, model.query_weight)  # type: ignore[assignment]
    coef = model.coef_ if hasattr(model, "coef_") else _by_row(model, rows)
    return PairStatement(X, rows, pairs, weights, coef, twin)


def _twin(model: Any) -> Any:
    """The same estimator before its fit, with the gamma that the fit resolved."""
    twin = clone(model)
    return twin.set_params(gamma=model.gamma_) if hasattr(model, "gamma_") else twin


def _interval_problem(model: Any, samples: Samples) -> IntervalProblem:
    name, n_classes = type(model).__name__, samples.n_classes
    if name == "ConvexHullRanker":
        problem: IntervalProblem = model._state(model.order_, n_classes)
        return problem
    if name == "NuMarginClassifier":
        return nu_margin_problem(n_classes, model.nu_, nu_row_weight(np.bincount(samples.codes, samples.weights)))
    if name == "SumOfMarginsClassifier":
        return sum_of_margins_problem(n_classes, model.C_)
    return fixed_margin_problem(n_classes, model.C, charge=CHARGES[model.loss], thresholds=model.thresholds)


def _thresholds(model: Any, problem: IntervalProblem, samples: Samples, rows: Ints, X: Any) -> Floats:
    """theta from the thresholds or interval ends of the model: sign * theta + rho + offset is the end of a class."""
    if type(model).__name__ == "FixedMarginClassifier":
        return model.thresholds_.copy()
    if getattr(model, "slack", "sample") == "edge":
        scores = model.score_samples(X)[rows]
        return best_edge_thresholds(model.order_.codes, scores, samples.codes, samples.weights, model.loss)
    rho = model.margin_ if problem.has_rho else 0.0
    lower, upper = model.intervals_[problem.group_class].T
    theta = np.zeros(problem.n_thresholds)
    theta[problem.threshold] = np.where(problem.sign > 0, lower - rho, upper + rho)
    return np.append(theta, rho) if problem.has_rho else theta


def _multiple(
    model: Any, problem: IntervalProblem, samples: Samples, rows: Ints, X: Any, coef: Floats, theta: Floats
) -> tuple[Floats, Floats]:
    """At |w| = 1 the sum of margins and charges is v; with 1/2 |w|^2 the best multiple of that point is -v."""
    s = model.score_samples(X)[rows]
    ends = problem.offsets(theta)
    v = float(problem.linear @ theta)
    for sign, c, end in zip(problem.sign, problem.group_class, ends, strict=True):
        own = samples.codes == c
        v += problem.cost * float(samples.weights[own] @ np.maximum(end - sign * s[own], 0.0))
    return -min(v, 0.0) * coef, -min(v, 0.0) * theta


def _by_row(model: Any, rows: Ints) -> Floats:
    """Kernel coefficients of the rows; zeros if the support vectors are no rows of the data."""
    coef = np.zeros(len(rows))
    place = np.searchsorted(rows, model.support_)
    if len(place) and (place.max() >= len(rows) or not np.array_equal(rows[place], model.support_)):
        return coef
    coef[place] = model.dual_coef_[0]
    return coef
