"""The ranker of the linear relaxation: the all-pairs hinge as a linear program."""

from numbers import Real
from time import perf_counter
from typing import Any, ClassVar, Self

from hullrank._sklearn import Interval
from hullrank.exact.relaxation import RelaxationStatement
from hullrank.exact.rows import join_rows
from hullrank.models._pair_charge import PairChargeRanker
from hullrank.models.base import fitting, warn_unless_converged
from hullrank.problem.statement import Point, certificate
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

_RELAXATION_GAP = 1e-6  # relative gap at which the linear relaxation ends
_RELAXATION_ROUNDS = 500  # most rounds of cuts


class LinearRelaxationRanker(PairChargeRanker):
    """Rank by the linear relaxation of the mixed-integer program for the AUC (Bertsimas, Chang and Rudin 2010).

    Relaxing z to [0, 1] in P_AUC(epsilon) gives the all-pairs hinge with margin epsilon and |w_j| <= 1:
    min sum over pairs of max(0, epsilon - w.(x_i - x_k)) subject to w.(x_i - x_k) >= epsilon - 1. HiGHS solves it with
    cuts that sum the violated pairs of a sample, found by sorting, so that pairs are never stored.

    Parameters
    ----------
    epsilon : float, default=1e-4
        The margin, relative to the worst violation.
    warm_start : bool, default=False
        Start from the weights of the last fit (another epsilon, other rows, the same columns): the first cuts are made
        there.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the score, each in [-1, 1].
    certificate_ : Certificate
        The hinge sum in units of epsilon, and the lower bound from the cuts.
    n_iter_ : int
        Rounds of cuts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    ExactRanker : The same problem without the relaxation.
    SwappedPairsRanker : The hinge with an L2 penalty, for large data.

    Examples
    --------
    >>> from hullrank import LinearRelaxationRanker
    >>> ranker = LinearRelaxationRanker().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> ranker.score([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    0.75
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
    }

    def __init__(self, epsilon: float = 1e-4, *, warm_start: bool = False) -> None:
        self.epsilon = epsilon
        self.warm_start = warm_start

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> Self:
        """Solve the relaxation; Ctrl-C keeps the best answer so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets of any grades; only their order matters.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight is a repetition.
        qid : array-like of shape (n_samples,), default=None
            Query ids; only pairs within a query count.

        Returns
        -------
        self : object
        """
        began = perf_counter()
        statement = self.state(X, y, sample_weight=sample_weight, qid=qid)
        last = self._warm_start_for(statement.rows.X.shape[1])
        start = None if last is None or not last.any() else Point(last)
        solution = solve(statement, Options(_RELAXATION_GAP, _RELAXATION_ROUNDS), start)
        self.coef_ = solution.point.coef
        if self.warm_start:
            self._warm = self.coef_
        self.n_iter_ = solution.iterations
        graded = statement.grade(self.candidate(statement), solution.evidence)
        self.certificate_ = certificate(statement, graded, solution, _RELAXATION_GAP, perf_counter() - began)
        warn_unless_converged(self.certificate_, _RELAXATION_GAP, "standardise the features or raise epsilon")
        return self

    def state(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> RelaxationStatement:
        """Check the data and state what is minimised on them; ``fit`` solves this.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        qid : array-like of shape (n_samples,), default=None

        Returns
        -------
        statement : frozen record of the distinct rows and epsilon
        """
        return RelaxationStatement(join_rows(*self._check(X, y, sample_weight, qid)), self.epsilon)
