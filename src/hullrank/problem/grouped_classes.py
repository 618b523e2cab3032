"""Classes of several groups of rows whose grades cannot be compared: one chain of cells for every group.

A *cell* is a class within a group (a rater, a panel, a site). Groups share the weights w and nothing else: each has
thresholds of its own, so that the problem of all groups is their problems side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.exceptions import LabelError
from hullrank.order import OrderGraph
from hullrank.problem.intervals import IntervalProblem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroupedClasses:
    """The group and the class of every cell, sorted by group and then by class, and the labels of the groups."""

    group: NDArray[np.intp]
    cls: NDArray[np.intp]
    labels: NDArray[Any]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    @property
    def sizes(self) -> list[int]:
        """Number of classes that every group has."""
        return np.bincount(self.group, minlength=self.n_groups).tolist()

    @property
    def is_followed(self) -> NDArray[np.bool_]:
        """Whether the next cell, a higher class, is of the same group."""
        return np.append(self.group[1:] == self.group[:-1], False)

    def classes_of(self, group: int) -> NDArray[np.intp]:
        """Codes of the classes that a group has, ascending."""
        return self.cls[self.group == group]

    def per_group(self, values: NDArray[Any], n_classes: int) -> Floats:
        """(G, K, ...) from values per cell; NaN where a group lacks a class."""
        out = np.full((self.n_groups, n_classes, *values.shape[1:]), np.nan)
        out[self.group, self.cls] = values
        return out

    def by_class(self, samples: Samples, n_classes: int) -> Samples:
        """The same samples, whose codes are cells, with the codes of their classes."""
        return replace(samples, codes=self.cls[samples.codes], n_classes=n_classes)

    def table(self, counts: NDArray[np.integer], n_classes: int) -> NDArray[np.int64]:
        """(G, K) from numbers per cell; 0 where a group lacks a class."""
        out = np.zeros((self.n_groups, n_classes), dtype=np.int64)
        out[self.group, self.cls] = counts
        return out


def balanced(samples: Samples) -> Samples:
    """The same samples with weights by which every class, or every cell, weighs the same."""
    totals = samples.class_weight
    factors = totals.sum() / samples.n_classes / totals
    return replace(samples, weights=samples.weights * factors[samples.codes])


def split_by_group(samples: Samples, groups: NDArray[np.intp], labels: NDArray[Any]) -> tuple[GroupedClasses, Samples]:
    """The cells that have a sample, and the samples with the codes of their cells; groups without any do not count."""
    present, groups = np.unique(groups, return_inverse=True)
    numbers, codes = np.unique(groups * samples.n_classes + samples.codes, return_inverse=True)
    group, cls = np.divmod(numbers, samples.n_classes)
    return GroupedClasses(group, cls, labels[present]), replace(samples, codes=codes, n_classes=len(numbers))


def order_among(order: OrderGraph, present: NDArray[np.intp]) -> OrderGraph:
    """The order between some of the classes: their own edges, and those that lead over classes that are missing."""
    labels = [order.labels[c] for c in present]
    own, implied = order.restrict(labels), order.closure().restrict(labels).reduction()
    if own.n_edges == implied.n_edges or own.is_full:
        return own if own.is_full else implied
    return OrderGraph.from_edges([*own.edges, *implied.edges], labels=labels)


def side_by_side(problems: Sequence[IntervalProblem | None], sizes: Sequence[int]) -> IntervalProblem:
    """Problems with the same charge and penalty as one; ``sizes`` are their numbers of classes, None has no rows."""
    stated = [problem for problem in problems if problem is not None]
    if not stated:
        raise LabelError("no group has two classes to compare; pass fewer groups, or none")
    first_class = np.cumsum([0, *sizes])[:-1]
    parts: dict[str, list[Any]] = {name: [] for name in _PER_ROW}
    thresholds = groups = 0
    for first, problem in zip(first_class, problems, strict=True):
        if problem is None:
            continue
        moved = replace(
            problem,
            group_class=problem.group_class + first,
            threshold=problem.threshold + thresholds,
            bundles=np.where(problem.bundles >= 0, problem.bundles + groups, -1),
            up=problem.up + thresholds,
            low=np.where(problem.low >= 0, problem.low + thresholds, -1),
        )
        for name in _PER_ROW:
            parts[name].append(getattr(moved, name))
        thresholds, groups = thresholds + problem.n_thresholds, groups + problem.n_groups
    joined: dict[str, Any] = {name: np.concatenate(each) for name, each in parts.items()}
    return replace(stated[0], **joined)


_PER_ROW = ("group_class", "sign", "threshold", "offset", "bundles", "up", "low", "gap", "linear")
