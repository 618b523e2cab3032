"""Statements from their parts, solved and graded, for tests that look below the estimators."""

from types import SimpleNamespace

import numpy as np

from hullrank.order import OrderGraph
from hullrank.problem.charges import charge_named
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.statement import certificate
from hullrank.solvers.base import Options
from hullrank.solvers.intervals import solve_intervals
from hullrank.solvers.solve import solve


def interval_statement(problem, samples, gram=None, rank=None):
    """An interval problem over samples whose classes are 0, 1, 2, ..."""
    classes = np.arange(samples.n_classes)
    space = None if gram is None else KernelSpace(gram, rank)
    chain = OrderGraph.chain(classes.tolist())
    return IntervalStatement(problem, samples, np.arange(len(samples.codes)), classes, chain, space)


def pair_statement(X, pairs, C, loss, gram=None, rank=None):
    """A pair problem over all rows of X, or with a kernel between them."""
    space = None if gram is None else KernelSpace(gram, rank)
    return PairStatement(X, pairs, C, charge_named(loss), np.arange(X.shape[0]), space)


def solved(statement, tol=1e-6, max_iter=200, *, start=None, solver="auto", cache_size=500.0, verbose=0):
    """The solution of a statement with its certificate, as one record."""
    options = Options(tol, max_iter, verbose, cache_size)
    if solver == "auto":
        solution = solve(statement, options, start)
    else:
        solution = solve_intervals(statement, options, solver=solver)
    grade = statement.grade(solution.point, solution.evidence, solution.scores)
    return SimpleNamespace(
        coef=solution.point.coef,
        thresholds=solution.point.thresholds,
        scores=statement.scores(solution.point),
        evidence=solution.evidence,
        start=solution.start,
        status=solution.status,
        certificate=certificate(statement, grade, solution, tol, 0.0),
    )


def kernel_solved(problem, samples, gram, *, rank=None, tol=1e-4, **options):
    """The solution of an interval problem with a kernel between the samples."""
    return solved(interval_statement(problem, samples, gram, rank), tol, **options)


def two_classes(n=40, d=3, seed=0, noise=1.5):
    """Rows of d columns, of which a noisy weighted sum says the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.linspace(1, 2, d) + noise * rng.normal(size=n) > 0).astype(int)
