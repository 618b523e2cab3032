"""Class-based estimators that take groups of rows whose grades cannot be compared: one score, own thresholds."""

from itertools import pairwise
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.data import check_queries, check_target, check_weights
from hullrank.data.checks import is_source
from hullrank.data.labels import unique_inverse
from hullrank.exceptions import HullrankError
from hullrank.models._scales import warn_of_scales
from hullrank.models.base import fitting
from hullrank.models.intervals import IntervalEstimator
from hullrank.problem.block_rows import ReadBlocks, refuse_beside_blocks
from hullrank.problem.grouped_classes import GroupedClasses
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.statement import Solution

Floats = NDArray[np.float64]


class GroupedIntervalEstimator(IntervalEstimator):
    """An interval estimator whose ``fit`` takes groups: the statement is one problem for every group, side by side."""

    @fitting
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn the score and the place of every class; Ctrl-C keeps the best answer so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or Blocks
            `hullrank.io.Blocks` have targets and weights of their own, and no groups.
        y : array-like of shape (n_samples,)
            Labels or numbers; equal values form a class.
        sample_weight : array-like of shape (n_samples,), default=None
            Price of each sample's slack; a weight is a repetition.
        groups : array-like of shape (n_samples,), default=None
            Rater, panel or site of every row, where the same grade need not mean the same in all of them. Grades are
            compared within groups only: every group has its own place of the classes on one score line. A group whose
            rows all have weight 0 is left out.

        Returns
        -------
        self : object
        """
        began = perf_counter()
        if is_source(X):
            refuse_beside_blocks(y=y, sample_weight=sample_weight, groups=groups)
            return self._fit_blocks(ReadBlocks(X), X, began)
        more = {} if groups is None else {"groups": groups}  # subclasses may state problems without groups
        statement = self.state(X, y, sample_weight=sample_weight, **more)
        warn_of_scales(self, statement.samples.X, statement.moments)
        self._learn(statement, began, self._warm_start_for(statement))
        return self

    def state(self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> IntervalStatement:
        """The problem that ``fit`` solves on these data, without solving it.

        A fitted model states what it chose itself (the order of the classes, gamma, an automatic nu or C).

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None

        Returns
        -------
        statement : IntervalStatement
        """
        X = self._check_features(X, reset=not hasattr(self, "order_"))
        values = check_target(X, y, discrete=self._discrete and self.classes is None)
        found = None if groups is None else check_groups(groups, X.shape[0])
        return self._statement_of(X, y, values, check_weights(sample_weight, X), found)

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        super()._store(statement, solution)
        grouped = statement.grouped
        if grouped is None:
            return
        n_classes = len(statement.classes)
        if statement.space is not None:
            self.n_support_ = np.bincount(grouped.cls, self.n_support_, n_classes).astype(np.intp)
        self.groups_ = grouped.labels
        self.group_intervals_ = grouped.per_group(self.intervals_, n_classes)
        shares = np.nan_to_num(grouped.per_group(statement.samples.class_weight, n_classes))
        lower, upper = np.moveaxis(self.group_intervals_, 2, 0)
        self.intervals_ = np.stack([_pooled(lower, shares, -np.inf), _pooled(upper, shares, np.inf)], axis=1)
        if statement.order.is_total:
            self.group_thresholds_ = np.array([_cuts(each) for each in self.group_intervals_])
            pooled = _pooled(self.group_thresholds_, shares[:, :-1] + shares[:, 1:], np.nan)
            self.thresholds_ = np.maximum.accumulate(_filled(pooled))

    def _cell_ends(self, grouped: GroupedClasses | None) -> Floats:
        """Where every class, or every cell, lies."""
        return self.intervals_ if grouped is None else self.group_intervals_[grouped.group, grouped.cls]

    def _cell_cuts(self, grouped: GroupedClasses | None) -> Floats:
        """The thresholds between neighbouring classes, group by group."""
        if grouped is None:
            return self.thresholds_
        inner = grouped.is_followed
        return self.group_thresholds_[grouped.group[inner], grouped.cls[inner]]

    def _predict_by_group(self, X: Any, groups: Any) -> NDArray[Any]:
        """The class between whose thresholds, those of its own group, every row lies; unseen groups have the mean."""
        scores = self.score_samples(X)
        cuts = self.thresholds_for(groups)
        if len(cuts) != len(scores):
            raise HullrankError(f"groups has {len(cuts)} entries, but there are {len(scores)} rows")
        return self.classes_[np.count_nonzero(scores[:, None] > cuts, axis=1)]

    def thresholds_for(self, groups: Any) -> Floats:
        """The thresholds of every row's own group; those of ``thresholds_`` for groups that were not seen.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)

        Returns
        -------
        thresholds : ndarray of shape (n_samples, n_classes - 1)
        """
        if not hasattr(self, "groups_"):
            raise HullrankError(f"this {type(self).__name__} was fitted without groups; leave them out")
        if not hasattr(self, "group_thresholds_"):
            raise HullrankError("classes of a partial order have no thresholds; look up scores in group_intervals_")
        codes, labels = check_groups(groups, len(groups))
        place = {label: k for k, label in enumerate(self.groups_.tolist())}
        numbers = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)[codes]
        return np.vstack([self.group_thresholds_, self.thresholds_])[numbers]


def check_groups(groups: Any, n_rows: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The number of every row's group, and the labels of the groups."""
    try:
        codes = check_queries(groups, n_rows)
    except HullrankError as error:
        raise HullrankError(str(error).replace("qid", "groups").replace("query id", "group")) from error
    return codes, unique_inverse(np.asarray(groups).ravel())[0]


def _cuts(ends: Floats) -> Floats:
    """(K - 1,) thresholds of one group, in the middle between the classes that it has; infinite beyond these."""
    present = np.flatnonzero(~np.isnan(ends[:, 0]))
    cuts = np.full(len(ends) - 1, np.inf)
    cuts[: present[0]] = -np.inf
    for lo, hi in pairwise(present):
        cuts[lo:hi] = (ends[lo, 1] + ends[hi, 0]) / 2
    return cuts


def _pooled(values: Floats, shares: Floats, fill: float) -> Floats:
    """(K,) means over the groups of what is finite, by the weight of the groups' rows; ``fill`` where nothing is."""
    known = np.isfinite(values)
    weights = np.where(known, shares, 0.0)
    total = weights.sum(axis=0)
    means = (weights * np.where(known, values, 0.0)).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, means, fill)


def _filled(cuts: Floats) -> Floats:
    """Thresholds that no group has, between those that some have."""
    known = np.flatnonzero(np.isfinite(cuts))
    return np.interp(np.arange(len(cuts)), known, cuts[known])
