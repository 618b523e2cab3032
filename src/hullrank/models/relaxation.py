"""The ranker of the linear relaxation: the all-pairs hinge as a linear program."""

import time
from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval

from hullrank.exact.relaxation import RelaxationStatement, relax
from hullrank.exact.rows import join_rows
from hullrank.models._pair_charge import PairChargeRanker
from hullrank.models.base import fitting, warn_unless_converged
from hullrank.problem.certificate import Certificate


class LinearRelaxationRanker(PairChargeRanker):
    """Rank by the linear relaxation of the mixed-integer program for the AUC (Bertsimas, Chang and Rudin 2010).

    Relaxing z to [0, 1] in P_AUC(epsilon) gives the all-pairs hinge with margin epsilon and |w_j| <= 1:
    min sum over pairs of max(0, epsilon - w.(x_i - x_k)) subject to w.(x_i - x_k) >= epsilon - 1. HiGHS solves it with
    cuts that sum the violated pairs of a sample, found by sorting, so that pairs are never stored.

    Parameters
    ----------
    epsilon : float, default=1e-4
        The margin, relative to the worst violation.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"epsilon": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, epsilon: float = 1e-4) -> None:
        self.epsilon = epsilon

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
        begin = time.perf_counter()
        statement = self.state(X, y, sample_weight=sample_weight, qid=qid)
        answer = relax(statement.rows, self.epsilon)
        self.coef_ = answer.w
        self.n_iter_ = answer.rounds
        self.certificate_ = Certificate(
            primal=statement.value(self.candidate(statement)),
            dual=answer.dual,
            status=answer.status,
            iterations=answer.rounds,
            seconds=time.perf_counter() - begin,
            solver="cutting planes",
            n_order_constraints=answer.pairs,
        )
        warn_unless_converged(self.certificate_, 1e-9, "standardise the features or raise epsilon")
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
