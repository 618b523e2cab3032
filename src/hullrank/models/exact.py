"""The ranker that charges 0 or 1 for every pair, to a proof."""

import time
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import ClassifierTags, check_random_state

from hullrank._sklearn import Interval, StrOptions
from hullrank.exact.grade import grade
from hullrank.exact.mip import rank_program
from hullrank.exact.portfolio import METHODS, solve_exact
from hullrank.exact.rule import WeightRule
from hullrank.exact.score_table import score_table
from hullrank.exact.statement import Statement, state_pairs, state_ranks
from hullrank.exceptions import ConvergenceWarning, HullrankError, LabelError
from hullrank.models import _exact_starts
from hullrank.models._constraints import SIGN_CONSTRAINTS, signs_of_features
from hullrank.models._pair_charge import PairChargeRanker
from hullrank.models.base import fitting
from hullrank.problem.certificate import Status
from hullrank.problem.exact_certificate import ExactCertificate
from hullrank.problem.statistics import NAMES, RankStatistic

Floats = NDArray[np.float64]


class ExactRanker(PairChargeRanker):
    """Rank by the linear score that maximises the AUC, or another rank statistic, exactly.

    Over all directions w it maximises the share of comparable pairs with w.x_i > w.x_k (ties are errors), or a
    rank-risk functional, sum over positives of a[number of samples scored strictly below] (Bertsimas, Chang and Rudin
    2010). Up to about six features the optimum is proven in seconds; with more, the best score found so far and an
    honest, loose bound are returned when time is up. The statistic is recounted from ``coef_`` in integer arithmetic.

    Parameters
    ----------
    statistic : {"auc", "wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"}, array-like or RankStatistic, default="auc"
        What to maximise. An array gives non-decreasing weights a_1..a_n of the ranks;
        `hullrank.problem.statistics.RankStatistic` sets t of "partial_wmw" and p of "pnorm". All but the AUC take
        two classes and no queries.
    method : {"auto", "sweep", "plane_search", "branch_and_bound", "lattice", "mip"}, default="auto"
        "auto" sweeps the angle when the rows span a plane, and otherwise starts from logistic regression, the
        swapped-pairs SVM and the linear relaxation, improves by plane search and proves by the lattice program (where
        features have few levels) and branch and bound in turns. "sweep" is exact for rows that span a plane.
        "plane_search" only looks for good directions, until a limit is met. "branch_and_bound" and "lattice" leave
        out the starts and the other method. "mip" is the program of the paper, solved by HiGHS.
    weights : {"real", "integer"}, default="real"
        "integer" asks for a scoring system: whole-number weights of the raw features, at most ``max_weight`` in size.
        Of equally good ones those with the smallest sum of sizes are taken.
    max_weight : int, default=5
        Largest size of whole-number weights.
    max_features : int, default=None
        Most features with a weight other than 0; None is all of them.
    monotonic_cst : array-like of shape (n_features,) or dict, default=None
        1 for features whose weight must not be negative, -1 for those whose weight must not be positive, 0 for the
        others; a dict has names of features for keys.
    time_limit : float or None, default=60
        Seconds after which the best score function so far is returned; None is no limit.
    max_cells : int, default=None
        A limit like ``time_limit`` that is the same on every machine: cells bounded and planes swept.
    gap_tol : float, default=0.0
        Stop when the upper bound exceeds the value by at most this share of the largest conceivable value.
    epsilon : float, default=1e-4
        Margin of the mixed-integer program and of the linear relaxation; smaller ones approach the tolerance of
        HiGHS, and its answers become wrong (they are recounted).
    warm_start : bool, default=False
        Start from the weights of the last fit (other limits or rows, the same columns) beside the usual starts: the
        search begins with the best of them, and its answer is none the worse.
    random_state : int, RandomState instance or None, default=None
        Seed of the plane search; None is a fixed seed, so that equal data give equal weights.
    verbose : int, default=0
        Print every change of value or bound.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of all directions that win the same pairs the one of largest margin, scaled to max |coef| = 1.
    certificate_ : ExactCertificate
        Recounted value, upper bound, gap, status and what is rigorous about them.
    score_table_ : ScoreTable
        Points of the features, and samples and share of positives for every total; for whole-number weights only.
    trace_ : list of (seconds, value, bound)
        How value and bound approached each other; `hullrank.plots.AnytimeDisplay` draws it.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Sample weights multiply in pairs; for the other statistics they must be whole numbers, since a rank counts samples.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import ExactRanker
    >>> X = np.array([[0, 0], [1, 2], [2, 1], [3, 3], [4, 0], [0, 4]])
    >>> ranker = ExactRanker().fit(X, [0, 0, 1, 1, 1, 0])
    >>> ranker.certificate_.status, ranker.certificate_.value
    (<Status.PROVEN_OPTIMAL: 'proven_optimal'>, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "statistic": [StrOptions(set(NAMES)), RankStatistic, "array-like"],
        "method": [StrOptions(set(METHODS))],
        "weights": [StrOptions({"real", "integer"})],
        "max_weight": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        **SIGN_CONSTRAINTS,
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "max_cells": [Interval(Integral, 1, None, closed="left"), None],
        "gap_tol": [Interval(Real, 0, None, closed="left")],
        "epsilon": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        statistic: Any = "auc",
        *,
        method: str = "auto",
        weights: str = "real",
        max_weight: int = 5,
        max_features: int | None = None,
        monotonic_cst: Any = None,
        time_limit: float | None = 60,
        max_cells: int | None = None,
        gap_tol: float = 0.0,
        epsilon: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.statistic = statistic
        self.method = method
        self.weights = weights
        self.max_weight = max_weight
        self.max_features = max_features
        self.monotonic_cst = monotonic_cst
        self.time_limit = time_limit
        self.max_cells = max_cells
        self.gap_tol = gap_tol
        self.epsilon = epsilon
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> Self:
        """Find the best score function; Ctrl-C and the limits keep the best so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets: two classes, or for the AUC any grades; only their order matters.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight is a repetition.
        qid : array-like of shape (n_samples,), default=None
            Query ids; for the AUC, only pairs within a query count.

        Returns
        -------
        self : object
        """
        begin = time.perf_counter()
        statement = self.state(X, y, sample_weight=sample_weight, qid=qid)
        solution = solve_exact(
            statement,
            method=self.method,
            statistic=RankStatistic.of(self.statistic).name,
            starts=lambda: self._starts(statement),
            time_limit=self.time_limit,
            max_cells=self.max_cells,
            gap_tol=self.gap_tol,
            epsilon=self.epsilon,
            seed=0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
            begin=begin,
        )
        self.coef_ = solution.w
        if self.warm_start:
            self._warm = solution.w
        self.trace_ = solution.trace
        self._decimals = statement.decimals
        self.certificate_ = grade(statement, self.candidate(statement).coef, solution.claim)
        if self.weights == "integer":
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(self.coef_))])
            self.score_table_ = score_table(names, self.coef_, self._scores(statement.rows.X), statement.rows)
        _warn_unless_ended(self.certificate_)
        return self

    def state(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> Statement:
        """Check the data and state what is maximised on them; ``fit`` solves this.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        qid : array-like of shape (n_samples,), default=None

        Returns
        -------
        statement : frozen record of the distinct rows, the pairs, their weights and the allowed weights
        """
        X, codes, weights, query = self._check(X, y, sample_weight, qid)
        statistic = RankStatistic.of(self.statistic)
        signs = signs_of_features(self.monotonic_cst, X.shape[1], getattr(self, "feature_names_in_", None))
        rule = WeightRule(signs, self.max_weight if self.weights == "integer" else None, self.max_features)
        if statistic.is_auc:
            return state_pairs(X, codes, weights, query, rule)
        if codes.max() > 1:
            raise LabelError(
                f"statistic {statistic.name!r} ranks positives above negatives, and y has {codes.max() + 1} classes; "
                "pass two classes, or statistic='auc', which takes any grades"
            )
        if query.any():
            raise HullrankError(f"statistic {statistic.name!r} takes no qid; only 'auc' compares within queries")
        if (weights != np.floor(weights)).any():
            raise HullrankError(
                f"sample_weight must be whole numbers for statistic {statistic.name!r}, whose ranks count samples"
            )
        return state_ranks(X, codes, weights, statistic.weights(int(weights.sum())), rule)

    def _starts(self, statement: Statement) -> Sequence[Floats]:
        last = self._warm_start_for(statement.rows.X.shape[1])
        given = [] if last is None else [last]
        if self.method in ("branch_and_bound", "lattice"):
            return given
        return [*given, *_exact_starts.directions(statement.rows, self.epsilon, self.time_limit)]

    def write_mip(self, path: str | Path, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> None:
        """Write the mixed-integer program of the data (P_AUC or P_RRF with margin ``epsilon``) for other solvers.

        Parameters
        ----------
        path : str or Path
            File to write; its suffix, .mps or .lp, chooses the format.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        qid : array-like of shape (n_samples,), default=None
        """
        self._validate_params()
        statement = clone(self).state(X, y, sample_weight=sample_weight, qid=qid)
        rank_program(statement, self.epsilon).program.write(path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not (isinstance(self.statistic, str) and self.statistic == "auc"):
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _warn_unless_ended(certificate: ExactCertificate) -> None:
    for remark in certificate.remarks:
        warnings.warn(remark, ConvergenceWarning, stacklevel=4)
    proving = certificate.solver != "plane_search"
    if proving and certificate.status not in (Status.PROVEN_OPTIMAL, Status.CONVERGED):
        warnings.warn(
            f"{certificate.solver} ended with status '{certificate.status}' before a proof: value "
            f"{certificate.value:.6g}, upper bound {certificate.upper_bound:.6g}; raise time_limit or max_cells, or "
            "use fewer features",
            ConvergenceWarning,
            stacklevel=4,
        )
