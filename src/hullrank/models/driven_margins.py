"""Ordinal classification whose margins a linear term drives: nu margin, sum of margins (Shashua and Levin 2002)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hullrank._sklearn import StrOptions
from hullrank.data import Samples
from hullrank.exceptions import InfeasibleParameterError
from hullrank.models._constraints import CLASS_CONSTRAINTS, positive
from hullrank.models._driven import FRACTION, Direction, DrivenMarginClassifier, is_workable, row_weight
from hullrank.models.intervals import has_collapsed, warn_collapsed, where
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.grouped_classes import side_by_side
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import (
    IntervalProblem,
    chain_problem,
    nu_margin_problem,
    sum_of_margins_problem,
    with_margin,
)
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.statement import Solution
from hullrank.solvers.parameter_range import unbounded_drive


class NuMarginClassifier(DrivenMarginClassifier):
    """Ordinal classifier whose margin is chosen by nu, the share of margin errors it tolerates.

    Minimises 1/2 |w|^2 - nu rho + (1/N) sum xi over rows with margin rho >= 0 (Shashua and Levin (32)), N the number
    of rows (two per sample of an inner class). When rho > 0, the share of margin errors is at most nu, and that of
    support vectors at least nu. With two classes it is scikit-learn's NuSVC up to scale.

    Parameters
    ----------
    nu : float or "auto", default="auto"
        Between the value below which the ranking collapses and the largest feasible one; "auto" is chosen between them
        by ``fraction``.
    fraction : float in [0, 1], default=None
        Where in the workable range nu lies, if it is "auto": 0 is where a ranking begins, 1 the largest feasible nu.
        Any fraction is legal on any data, so that it can be searched over. None is 0.1 without a kernel and 0.7 with
        one, near which the mean rank error on 21 data sets is lowest (docs/defaults.md).
    classes : sequence of labels, default=None
        The classes from lowest to highest, where y does not say it itself.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with the sample weights.
    warm_start : bool, default=False
        Start from where the last fit ended (another nu or gamma, the same samples).
    monotonic_cst : array-like of shape (n_features,) or dict, default=None
        1 for features whose weight must not be negative, -1 for those whose weight must not be positive, 0 for the
        others; a dict has names of features for keys. Linear scores only.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="linear"
        A positive semi-definite kernel; a callable takes two matrices and returns the kernel values of their rows.
    gamma : {"scale", "auto", "ard"} or float, default="scale"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels; "scale" is 1 / (n_features * variance of X). "ard"
        learns one for every column of an rbf kernel from the ranks of y, for data of which few columns matter.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    cache_size : float, default=500
        Megabytes of kernel rows kept while solving.
    approximation : {None, "nystroem"} or int, default=None
        Number of samples that span an approximate kernel ("nystroem": 1000), for data too large for exact work; the
        certificate then says by how much the gap for the kernel itself is open.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=200
        Most iterations of the solver.
    verbose : int, default=0
        Whether the solver reports its iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, lowest first.
    nu_ : float
        The nu that was used.
    margin_ : float
        Half the distance between neighbouring classes, rho.
    order_ : OrderGraph
    coef_ : ndarray of shape (n_features,)
        Only with the linear kernel.
    thresholds_ : ndarray of shape (n_classes - 1,)
    intervals_ : ndarray of shape (n_classes, 2)
        Where every class lies on the score line; infinite where nothing lies beyond.
    groups_ : ndarray of shape (n_groups,)
        The groups; this and the next two only if ``fit`` was given groups. Then ``thresholds_`` and ``intervals_`` are
        means over the groups, by the weight of their rows.
    group_thresholds_ : ndarray of shape (n_groups, n_classes - 1)
        The thresholds of every group; infinite beyond the classes that it has.
    group_intervals_ : ndarray of shape (n_groups, n_classes, 2)
        Where every class lies within every group; NaN where a group has no row of it.
    support_ : ndarray of shape (n_SV,)
        Numbers of the support vectors; this and the next three only with a kernel.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_SV)
        Kernel coefficients of the support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of every class.
    gamma_ : float, or ndarray of shape (n_features,)
        The number (with "ard" the numbers) behind ``gamma``; with a kernel that is not precomputed.
    n_iter_ : int
    certificate_ : Certificate
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    A. Shashua, A. Levin: Ranking with large margin principle: two approaches. NIPS 2002.

    Examples
    --------
    >>> from hullrank import NuMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(200, 3, n_classes=3, noise=0.3, random_state=0)
    >>> model = NuMarginClassifier().fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "nu": [positive(), StrOptions({"auto"})],
        "fraction": FRACTION,
        **CLASS_CONSTRAINTS,
    }

    def __init__(
        self,
        nu: float | str = "auto",
        *,
        fraction: float | None = None,
        classes: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        monotonic_cst: Any = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 500,
        approximation: int | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.fraction = fraction
        self.classes = classes
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.monotonic_cst = monotonic_cst
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.approximation = approximation
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _unit_problem(self, sizes: Sequence[int]) -> IntervalProblem:
        if len(sizes) == 1:
            return nu_margin_problem(sizes[0], 1.0, 1.0)
        chains = [chain_problem(size, 0.0, 1.0, Charge.HINGE) if size > 1 else None for size in sizes]
        return with_margin(side_by_side(chains, sizes), 1.0)

    def _driven(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> IntervalProblem:
        """The problem at an nu that is feasible."""
        nu, direction = self._chosen_nu(unit, samples, space)
        return unit.with_terms(linear=nu * unit.linear, cost=1 / row_weight(unit, samples), direction=direction)

    def _chosen_nu(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> tuple[float, Direction]:
        self._check_fraction("nu")
        if hasattr(self, "nu_"):
            return self.nu_, None
        if self.nu == "auto":
            drive, direction = self._drive(unit, samples, space)
            return drive / row_weight(unit, samples), direction
        nu = float(self.nu)
        if nu > unbounded_drive(unit, samples) / row_weight(unit, samples) * (1 + 1e-9):
            advice = self._advice(unit, samples, space)
            raise InfeasibleParameterError(
                f"nu={nu:g} is infeasible for these data: the problem is unbounded; {advice}"
            )
        return nu, None

    def _advice(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> str:
        low, high = (drive / row_weight(unit, samples) for drive in self._range(unit, samples, space))
        return self._cure(f"{low:.4g} < nu <= {high:.4g}", "nu", samples, workable=is_workable(low, high))

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        super()._store(statement, solution)
        self.nu_, self.margin_ = -float(statement.problem.linear[-1]), float(solution.point.thresholds[-1])

    def _stored_thresholds(self, statement: IntervalStatement) -> NDArray[np.float64]:
        return np.append(self._cell_cuts(statement.grouped), self.margin_)

    def _warn_if_collapsed(self, statement: IntervalStatement, scores: NDArray[np.float64]) -> None:
        if has_collapsed(self.intervals_, scores):
            samples = statement.samples
            cure = self._advice(self._unit(samples, statement.grouped), samples, statement.space)
            warn_collapsed(f"nu={self.nu_:g} is too small for these data; {cure}")


class SumOfMarginsClassifier(DrivenMarginClassifier):
    """Ordinal classifier that maximises the sum of the margins between neighbouring classes.

    Minimises sum_j (a_j - b_j) + C sum xi subject to |w| <= 1, class j below a_j and class j + 1 above b_j, with
    a_j <= b_j <= a_{j+1} (Shashua and Levin (14)-(20)). With two classes it is scikit-learn's NuSVC with
    nu = 2 / (C m).

    Parameters
    ----------
    C : float or "auto", default="auto"
        Price of slack. Below a smallest value the problem is unbounded, above a largest one w = 0 is optimal; "auto"
        is chosen between them by ``fraction``. Small C makes inner classes vanish.
    fraction : float in [0, 1], default=None
        Where in its workable range 1 / C lies, if C is "auto": 0 is the largest C that gives a ranking, 1 the smallest
        for which there is an optimum. Any fraction is legal on any data, so that it can be searched over. None is 0.1
        without a kernel and 0.7 with one, near which the mean rank error on 21 data sets is low (docs/defaults.md).
    classes : sequence of labels, default=None
        The classes from lowest to highest, where y does not say it itself.
    class_weight : dict or "balanced" or None, default="balanced"
        Weights of the classes, multiplied with the sample weights; None is the paper's problem. It is the rarest class
        that bounds C from below, where rare classes outweigh nothing: with equal weights no C ranks 6 of 21 data sets,
        with balanced ones 2.
    warm_start : bool, default=False
        Start from where the last fit ended (another C or gamma, the same samples).
    monotonic_cst : array-like of shape (n_features,) or dict, default=None
        1 for features whose weight must not be negative, -1 for those whose weight must not be positive, 0 for the
        others; a dict has names of features for keys. Linear scores only.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="linear"
        A positive semi-definite kernel; a callable takes two matrices and returns the kernel values of their rows.
    gamma : {"scale", "auto", "ard"} or float, default="scale"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels; "scale" is 1 / (n_features * variance of X). "ard"
        learns one for every column of an rbf kernel from the ranks of y, for data of which few columns matter.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    cache_size : float, default=500
        Megabytes of kernel rows kept while solving.
    approximation : {None, "nystroem"} or int, default=None
        Number of samples that span an approximate kernel ("nystroem": 1000), for data too large for exact work; the
        certificate then says by how much the gap for the kernel itself is open.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=200
        Most iterations of the solver.
    verbose : int, default=0
        Whether the solver reports its iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, lowest first.
    C_ : float
        The C that was used.
    order_ : OrderGraph
    coef_ : ndarray of shape (n_features,)
        Of norm 1.
        Only with the linear kernel.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Midpoints of a_j and b_j.
    intervals_ : ndarray of shape (n_classes, 2)
        [b_{c-1}, a_c] for every class; infinite where nothing lies beyond.
    groups_ : ndarray of shape (n_groups,)
        The groups; this and the next two only if ``fit`` was given groups. Then ``thresholds_`` and ``intervals_`` are
        means over the groups, by the weight of their rows.
    group_thresholds_ : ndarray of shape (n_groups, n_classes - 1)
        The thresholds of every group; infinite beyond the classes that it has.
    group_intervals_ : ndarray of shape (n_groups, n_classes, 2)
        Where every class lies within every group; NaN where a group has no row of it.
    support_ : ndarray of shape (n_SV,)
        Numbers of the support vectors; this and the next three only with a kernel.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_SV)
        Kernel coefficients of the support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of every class.
    gamma_ : float, or ndarray of shape (n_features,)
        The number (with "ard" the numbers) behind ``gamma``; with a kernel that is not precomputed.
    n_iter_ : int
    certificate_ : Certificate
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    A. Shashua, A. Levin: Ranking with large margin principle: two approaches. NIPS 2002.

    Examples
    --------
    >>> from hullrank import SumOfMarginsClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(200, 3, n_classes=3, noise=0.3, random_state=0)
    >>> model = SumOfMarginsClassifier().fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [positive(), StrOptions({"auto"})],
        "fraction": FRACTION,
        **CLASS_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float | str = "auto",
        *,
        fraction: float | None = None,
        classes: Any = None,
        class_weight: Any = "balanced",
        warm_start: bool = False,
        monotonic_cst: Any = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 500,
        approximation: int | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fraction = fraction
        self.classes = classes
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.monotonic_cst = monotonic_cst
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.approximation = approximation
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _unit_problem(self, sizes: Sequence[int]) -> IntervalProblem:
        if len(sizes) == 1:
            return sum_of_margins_problem(sizes[0], 1.0)
        return side_by_side([sum_of_margins_problem(size, 1.0) if size > 1 else None for size in sizes], sizes)

    def _driven(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> IntervalProblem:
        """The problem at a C that is feasible."""
        C, direction = self._chosen_C(unit, samples, space)
        return unit.with_terms(cost=C, direction=direction)

    def _chosen_C(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> tuple[float, Direction]:
        self._check_fraction("C")
        if hasattr(self, "C_"):
            return self.C_, None
        if self.C == "auto":
            drive, direction = self._drive(unit, samples, space)
            return 1 / drive, direction
        C = float(self.C)
        if (1 - 1e-9) / unbounded_drive(unit, samples) > C:
            raise InfeasibleParameterError(
                f"C={C:g} is too small for these data: the problem is unbounded; " + self._advice(unit, samples, space)
            )
        return C, None

    def _advice(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> str:
        low, high = self._range(unit, samples, space)
        largest = f"{1 / low:.4g}" if low > 0 else "inf"
        return self._cure(f"{1 / high:.4g} <= C < {largest}", "C", samples, workable=is_workable(low, high))

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        super()._store(statement, solution)
        self.C_ = statement.problem.cost

    def _stored_thresholds(self, statement: IntervalStatement) -> NDArray[np.float64]:
        """a_0, b_0, a_1, b_1, ...: upper ends of the classes, each followed by the lower end of the next class."""
        ends, grouped = self._cell_ends(statement.grouped), statement.grouped
        inner = slice(None) if grouped is None else grouped.is_followed[:-1]
        return np.stack([ends[:-1, 1][inner], ends[1:, 0][inner]], axis=1).ravel()

    def _warn_if_collapsed(self, statement: IntervalStatement, scores: NDArray[np.float64]) -> None:
        """A proven optimum of w = 0 is an error for an explicit C, a warning for "auto"."""
        if np.ptp(scores) > 0:
            return
        samples, space = statement.samples, statement.space
        if self.C == "auto":
            cure = self._way_out(samples)
            warn_collapsed(f"no C gives a ranking of these data by the sum of margins{where(space)}; {cure}")
            return
        unit = self._unit(samples, statement.grouped)
        low = self._range(unit, samples, space)[0]
        if self.certificate_.status is Status.CONVERGED or low * self.C_ >= 1:
            raise InfeasibleParameterError(
                f"C={self.C:g} is too large for these data{where(space)}: w = 0 is optimal; "
                + self._advice(unit, samples, space)
            )
