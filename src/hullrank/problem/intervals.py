"""Class-based ranking: every method places classes in intervals of the score line, stated as grouped rows.

Conventions
-----------
K classes with codes 0..K-1, lowest first (topological for a partial order); an edge (lo, hi) puts hi above lo.
A *group* is (class, threshold, sign): all samples k of the class get the row

    sign * (s_k - theta[threshold]) - rho + xi >= offset            s_k = w.x_k, rho only under the nu policy

A *bundle* is one group, or two groups of one class whose rows share their slack xi. The problem is

    min  penalty(w) + linear.(theta, rho) + sum_slacks cost * charge(xi)
    s.t. the rows, xi >= 0, and the order constraints theta[up] - theta[low] >= gap     (low = -1: theta[up] >= gap)

with penalty 1/2 |w|^2, |w|_1 or |w| <= 1 and a charge of ``charges``. Its dual, with one multiplier alpha per row and t
per order constraint, maximises

    offset.alpha + gap.t - 1/2 |X'(sign alpha)|^2 - sum_slacks cost * conjugate(sum_bundle alpha / cost)
    s.t. alpha, t >= 0, sum_bundle alpha <= cost * largest, and the flow on thresholds linear + E'(sign alpha) = G't

where E'(sign alpha) sums over the rows of each threshold (for rho: all rows) and G theta = theta[up] - theta[low].
With the L1 penalty the quadratic term gives way to |X'(sign alpha)|_inf <= 1, with the ball to -|X'(sign alpha)|.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hullrank.exceptions import HullrankError
from hullrank.problem.charges import Charge, priced_charge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Build = TypeVar("Build", bound=Callable[..., Any])
_FEW = 20  # order constraints up to which a loop in Python is faster than NumPy's test of all at once
FEW_CLASSES = 64  # classes up to which problems are remembered
MOST_ROWS = 3_000_000  # most rows (a sample at a threshold) of a problem: an interior-point step goes through all
DENSE_INCIDENCE = 20_000  # entries up to which the incidence matrix is kept dense


class Penalty(StrEnum):
    """What is charged for the weights: 1/2 |w|^2, |w|_1, or nothing inside the ball |w| <= 1."""

    L2 = "l2"
    L1 = "l1"
    BALL = "ball"

    def of(self, w: Floats) -> float:
        """The penalty of the weights; infinite outside the ball by more than rounding."""
        if self is Penalty.L1:
            return float(np.abs(w).sum())
        square = float(w @ w)
        return 0.5 * square if self is Penalty.L2 else (0.0 if square <= 1 + 1e-12 else np.inf)

    def dual_of(self, u: Floats) -> float:
        """What u = X'(sign alpha) costs the dual: 1/2 |u|^2, |u|_inf (which must be at most 1), or |u|."""
        if self is Penalty.L1:
            return float(np.abs(u).max(initial=0.0))
        return 0.5 * float(u @ u) if self is Penalty.L2 else float(np.sqrt(u @ u))


@dataclass(frozen=True)
class IntervalProblem:
    """Groups of rows, bundles of groups that share a slack, order constraints between thresholds (see the module).

    ``linear`` has one entry per threshold and, if ``has_rho``, a last one for the margin rho, which then is also the
    last entry of every theta. ``direction`` is one in which the optimum of a homogeneous problem may lie, weights and
    theta, where stating the problem has found one; solvers may begin there.
    """

    group_class: Ints
    sign: Floats
    threshold: Ints
    offset: Floats
    bundles: Ints  # (n_bundles, 2): a group and its partner, or -1
    up: Ints
    low: Ints
    gap: Floats
    linear: Floats
    charge: Charge
    cost: float
    has_rho: bool = False
    penalty: Penalty = Penalty.L2
    direction: tuple[Floats, Floats] | None = None

    @property
    def l1(self) -> bool:
        """Whether the penalty is |w|_1."""
        return self.penalty is Penalty.L1

    @cached_property
    def shares_slacks(self) -> bool:
        """Whether some bundle has two groups, whose rows share their slack."""
        return bool((self.bundles[:, 1] >= 0).any())

    @property
    def n_groups(self) -> int:
        """Number of row groups."""
        return len(self.sign)

    @property
    def n_thresholds(self) -> int:
        """Number of thresholds, without rho."""
        return len(self.linear) - self.has_rho

    @cached_property
    def homogeneous(self) -> bool:
        """All offsets and gaps are 0 and a linear term drives the solution (nu and sum of margins)."""
        return bool(self.linear.any()) and not (self.offset.any() or self.gap.any())

    def with_terms(self, **terms: Any) -> "IntervalProblem":
        """The same rows and order constraints with another linear term, cost, penalty or direction.

        The incidence, which follows from rows and order constraints alone, is found once for all of them.
        """
        other = replace(self, **terms)
        vars(other)["incidence"] = self.incidence
        return other

    def shifts(self, theta: Floats) -> Floats:
        """What every group's rows subtract from sign * s, the linear part: sign * theta + rho."""
        rho = theta[-1] if self.has_rho else 0.0
        return self.sign * theta[self.threshold] + rho

    def offsets(self, theta: Floats) -> Floats:
        """Per group, the value that sign * s must reach without slack."""
        return self.shifts(theta) + self.offset

    def order_gaps(self, theta: Floats) -> Floats:
        """G theta: the room between the two thresholds of every order constraint."""
        return np.subtract(theta[self.up], np.where(self.low >= 0, theta[self.low], 0.0), dtype=np.float64)

    def order_adjoint(self, t: Floats) -> Floats:
        """G't: what multipliers of the order constraints send into the thresholds."""
        inner = self.low >= 0
        q = len(self.linear)
        return np.subtract(np.bincount(self.up, t, q), np.bincount(self.low[inner], t[inner], q), dtype=np.float64)

    def flow(self, totals: Floats) -> Floats:
        """E'(sign alpha): what rows send into the thresholds (and rho), from the groups' sums of alpha."""
        q = self.n_thresholds
        into = np.bincount(self.threshold, self.sign * totals, q).astype(np.float64, copy=False)
        return np.append(into, totals.sum()) if self.has_rho else into

    @cached_property
    def incidence(self) -> Any:
        """N, sparse if large, with N'(group sums of alpha, t) = E'(sign alpha) - G't.

        One line per group, then one per order constraint.
        """
        g, o = np.arange(self.n_groups), self.n_groups + np.arange(len(self.up))
        rho = g[: self.n_groups if self.has_rho else 0]
        inner = self.low >= 0
        lines = np.concatenate([g, rho, o, o[inner]])
        columns = np.concatenate([self.threshold, np.full(len(rho), self.n_thresholds), self.up, self.low[inner]])
        values = np.concatenate([self.sign, np.ones(len(rho)), -np.ones(len(o)), np.ones(np.count_nonzero(inner))])
        shape = (self.n_groups + len(self.up), len(self.linear))
        if shape[0] * shape[1] > DENSE_INCIDENCE:
            return sp.csr_array((values, (lines, columns)), shape=shape)
        N = np.zeros(shape)
        N[lines, columns] = values
        return N

    @cached_property
    def _by_threshold(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.threshold, kind="stable")
        return order, np.searchsorted(self.threshold[order], np.arange(self.n_thresholds))

    def sum_by_threshold(self, values: Floats) -> Floats:
        """Sums over the groups of every threshold, for values per group."""
        order, first = self._by_threshold
        return np.add.reduceat(values[order], first, axis=0)

    def raise_thresholds(self, theta: Floats, room: float = 0.0) -> Floats:
        """The lowest thresholds above theta that satisfy the order constraints (which stand in topological order)."""
        theta = theta.copy()
        if len(self.up) > _FEW and np.all(self.order_gaps(theta) >= self.gap + room):
            return theta
        for up, low, gap in zip(self.up.tolist(), self.low.tolist(), self.gap.tolist(), strict=True):
            theta[up] = max(theta[up], (theta[low] if low >= 0 else 0.0) + gap + room)
        return theta


def _once(build: Build) -> Build:
    """Decorate a function that builds problems: those of few classes are built once.

    Cross-validation states the same problem again and again, and its arrays, which nobody changes, take as long to
    build as a tenth of a small fit.
    """
    known: Any = lru_cache(maxsize=64)(build)

    @wraps(build)
    def built(n_classes: int, *args: Any, **options: Any) -> Any:
        if n_classes > FEW_CLASSES:
            return build(n_classes, *args, **options)
        plain = (tuple(map(tuple, np.asarray(a).tolist())) if isinstance(a, list | np.ndarray) else a for a in args)
        return known(n_classes, *plain, **options)

    return built  # type: ignore[return-value]


@_once
def hull_problem(
    n_classes: int,
    edges: ArrayLike,
    C: float,
    *,
    loss: str = "squared_hinge",
    intervals: str = "proper",
    slack: str = "sample",
    penalty: str = "l2",
) -> IntervalProblem:
    """Convex-hull ranking, Fung et al. (26)-(28) in interval form.

    Class c lies in [L_c, U_c], L_hi - U_lo >= 1 along every edge, and a sample's slack is how far it lies outside.
    ``proper`` adds L_c <= U_c; ``edge`` gives every edge its own threshold t and slacks, s >= t + 1/2 for hi and
    s <= t - 1/2 for lo. A charge without a margin (logistic) has 0 in place of 1.
    """
    charge = priced_charge(loss, C)
    if slack == "sample" and intervals == "free" and charge is Charge.LOGISTIC:
        raise HullrankError(
            "loss='logistic' has no slack that the two sides of a free interval could share; use intervals='proper' "
            "or slack='edge'"
        )
    lo, hi = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
    by_class = np.lexsort((hi, lo))
    lo, hi = lo[by_class], hi[by_class]
    if slack == "edge":
        e = np.arange(len(lo))
        return _problem(
            np.stack([hi, lo], 1).ravel(), np.tile([1.0, -1.0], len(e)), np.repeat(e, 2), charge.margin / 2, C,
            charge, penalty=Penalty(penalty),
        )  # fmt: skip
    classes = np.arange(n_classes)
    has_lower, has_upper = np.isin(classes, hi), np.isin(classes, lo)
    present = np.stack([has_lower, has_upper], 1).ravel()
    lower, upper = (np.cumsum(present) - 1).reshape(-1, 2).T  # the thresholds L_c and U_c of class c, where it has them
    both = has_lower & has_upper
    bundles = None
    if intervals == "free":
        first = np.where(has_lower, lower, upper)
        bundles = np.stack([first, np.where(both, upper, -1)], 1)[has_lower | has_upper]
    proper = classes[both] if intervals == "proper" else classes[:0]
    # in topological order of the thresholds: first L_c <= U_c, then the edges that leave c
    rank = np.concatenate([2 * proper, 2 * lo + 1])
    order = np.argsort(rank, kind="stable")
    return _problem(
        np.repeat(classes, 2)[present],
        np.tile([1.0, -1.0], n_classes)[present],
        np.arange(present.sum()),
        0.0,
        C,
        charge,
        bundles=bundles,
        up=np.concatenate([upper[proper], lower[hi]])[order],
        low=np.concatenate([lower[proper], upper[lo]])[order],
        gap=np.concatenate([np.zeros(len(proper)), np.full(len(lo), charge.margin)])[order],
        penalty=Penalty(penalty),
    )


@_once
def fixed_margin_problem(
    n_classes: int, C: float, *, loss: str = "hinge", thresholds: str = "immediate"
) -> IntervalProblem:
    """Fixed margin, Shashua and Levin (2)-(5): s >= b_{c-1} + 1 - xi and s <= b_c - 1 + xi, with b_0 <= b_1 <= ...

    ``all`` gives every sample a row for every threshold (Chu and Keerthi's implicit constraints). A charge without a
    margin (logistic) has 0 in place of 1.
    """
    charge = priced_charge(loss, C)
    if thresholds == "immediate":
        return chain_problem(n_classes, charge.margin, C, charge)
    n_rows = n_classes * (n_classes - 1)
    if n_rows > MOST_ROWS:
        raise HullrankError(
            f"thresholds='all' gives every sample a row at each of {n_classes - 1} thresholds, {n_classes} classes at "
            f"least {n_rows} rows (at most {MOST_ROWS}); use thresholds='immediate' or fewer classes"
        )
    j, k = np.divmod(np.arange(n_rows), n_classes)
    return _problem(k, np.where(k > j, 1.0, -1.0), j, charge.margin, C, charge)


@_once
def nu_margin_problem(n_classes: int, nu: float, row_weight: float) -> IntervalProblem:
    """Nu fixed margin, Shashua and Levin (32): min 1/2 |w|^2 - nu rho + (1/N) sum xi with margin rho >= 0.

    ``row_weight`` is N, the total weight of the rows; thresholds are ordered.
    """
    return with_margin(chain_problem(n_classes, 0.0, 1.0 / row_weight, Charge.HINGE), nu)


def with_margin(problem: IntervalProblem, nu: float) -> IntervalProblem:
    """A problem without a margin, with one margin rho >= 0 for all its rows, for which -nu is charged."""
    rho = problem.n_thresholds
    return replace(
        problem,
        up=np.append(problem.up, rho),
        low=np.append(problem.low, -1),
        gap=np.append(problem.gap, 0.0),
        linear=np.append(np.zeros(rho), -nu),
        has_rho=True,
    )


@_once
def sum_of_margins_problem(n_classes: int, C: float) -> IntervalProblem:
    """Sum of margins, Shashua and Levin (14)-(20): |w| <= 1.

    theta = a_0, b_0, a_1, b_1, ... with a_j <= b_j <= a_{j+1}; class j lies below a_j, class j + 1 above b_j.
    """
    q = 2 * (n_classes - 1)
    j = np.arange(q)
    return _problem(
        (j + 1) // 2,
        np.tile([-1.0, 1.0], q // 2),
        j,
        0.0,
        C,
        Charge.HINGE,
        up=j[1:],
        low=j[:-1],
        gap=np.zeros(q - 1),
        linear=np.tile([1.0, -1.0], q // 2),
        penalty=Penalty.BALL,
    )


def chain_problem(n_classes: int, offset: float, C: float, charge: Charge) -> IntervalProblem:
    """Ordered thresholds between neighbouring classes, whose rows keep ``offset`` away from them."""
    group, threshold = np.arange(2 * (n_classes - 1)), np.arange(n_classes - 1)
    return _problem(
        (group + 1) // 2,
        np.where(group % 2, 1.0, -1.0),
        group // 2,
        offset,
        C,
        charge,
        up=threshold[1:],
        low=threshold[:-1],
        gap=np.zeros(n_classes - 2),
    )


def _problem(
    group_class: ArrayLike,
    sign: Floats,
    threshold: ArrayLike,
    offset: float,
    C: float,
    charge: Charge,
    *,
    bundles: Ints | None = None,
    up: ArrayLike = (),
    low: ArrayLike = (),
    gap: ArrayLike = (),
    linear: Floats | None = None,
    penalty: Penalty = Penalty.L2,
) -> IntervalProblem:
    n_groups = len(sign)
    threshold = np.asarray(threshold, dtype=np.int64)
    if bundles is None:
        bundles = np.full((n_groups, 2), -1)
        bundles[:, 0] = np.arange(n_groups)
    return IntervalProblem(
        group_class=np.asarray(group_class, dtype=np.int64),
        sign=sign,
        threshold=threshold,
        offset=np.full(n_groups, offset),
        bundles=np.asarray(bundles, dtype=np.int64),
        up=np.asarray(up, dtype=np.int64),
        low=np.asarray(low, dtype=np.int64),
        gap=np.asarray(gap, dtype=np.float64),
        linear=np.zeros(threshold.max(initial=-1) + 1) if linear is None else linear,
        charge=charge,
        cost=1.0 if charge is Charge.HARD else float(C),
        penalty=penalty,
    )
