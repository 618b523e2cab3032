"""Where the rows of an interval problem stand, once the samples are known."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.problem.intervals import MOST_ROWS, IntervalProblem

ROWS_A_SAMPLE = 50  # rows per sample that are always allowed, since X then takes most of the memory
START, LENGTH, GROUP, PARTNER, ROW, PARTNER_ROW, SLACK = range(7)


@dataclass(frozen=True)
class RowLayout:
    """Rows and slacks of all bundles over class-sorted samples.

    ``table`` has a line per bundle: first sample, number of samples, group, partner group or -1, first row of each of
    the two, first slack. The rows of a group are a slice, and groups follow each other in order; ``group_starts`` are
    their first rows. ``slack_sample`` and ``cost`` are the sample and the price of each slack.
    """

    table: NDArray[np.int64]
    group_starts: NDArray[np.int64]
    slack_sample: NDArray[np.int64]
    cost: NDArray[np.float64]
    n_samples: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.group_starts[-1])

    @property
    def n_slacks(self) -> int:
        """Number of slacks; fewer than rows where two rows share one."""
        return len(self.cost)

    @cached_property
    def shares_slacks(self) -> bool:
        """Whether two rows share a slack somewhere; otherwise rows and slacks are in the same order."""
        return self.n_rows > self.n_slacks

    @cached_property
    def row_cost(self) -> NDArray[np.float64]:
        """The price of the slack that each row uses."""
        return self.cost[self.row_slack] if self.shares_slacks else self.cost

    @cached_property
    def row_slack(self) -> NDArray[np.int64]:
        """The slack that each row uses."""
        slack = np.arange(self.n_rows)
        if self.shares_slacks:
            for side in (ROW, PARTNER_ROW):
                held = self.table[self.table[:, side] >= 0]
                rows = concatenated_ranges(held[:, side], held[:, LENGTH])
                slack[rows] = concatenated_ranges(held[:, SLACK], held[:, LENGTH])
        return slack

    def by_slack(self, per_row: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each slack the sum over the one or two rows that use it."""
        if not self.shares_slacks:
            return per_row
        return np.asarray(np.bincount(self.row_slack, per_row, self.n_slacks), dtype=np.float64)

    def most_by_slack(self, per_row: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each slack the larger value of the one or two rows that use it."""
        if not self.shares_slacks:
            return per_row
        largest = np.full(self.n_slacks, -np.inf)
        np.maximum.at(largest, self.row_slack, per_row)
        return largest

    @cached_property
    def row_sample(self) -> NDArray[np.int64]:
        """The (class-sorted) sample of each row."""
        return self.slack_sample[self.row_slack] if self.shares_slacks else self.slack_sample

    @cached_property
    def row_group(self) -> NDArray[np.int64]:
        """The group of each row."""
        return self.spread(np.arange(len(self.group_starts) - 1))

    def spread(self, per_group: NDArray[Any]) -> NDArray[Any]:
        """For each row the value of its group."""
        return np.repeat(per_group, self.group_starts[1:] - self.group_starts[:-1])

    @cached_property
    def group_samples(self) -> NDArray[np.int64]:
        """The first sample of every group."""
        first = np.zeros(len(self.group_starts) - 1, dtype=np.int64)
        for side in (GROUP, PARTNER):
            held = self.table[self.table[:, side] >= 0]
            first[held[:, side]] = held[:, START]
        return first


def lay_out(problem: IntervalProblem, starts: NDArray[np.integer], weights: NDArray[np.float64]) -> RowLayout:
    """The layout for class-sorted samples with class c at ``starts[c]:starts[c + 1]``; costs are C times weights."""
    home, sizes = problem.group_class[problem.bundles[:, 0]], starts[1:] - starts[:-1]
    table, first_rows = bundle_table(problem, starts[home], sizes[home])
    n_rows, m = int(first_rows[-1]), len(weights)
    if n_rows > max(MOST_ROWS, ROWS_A_SAMPLE * m):
        raise HullrankError(
            f"every one of {m} samples pays at about {n_rows // m} thresholds, which makes {n_rows} rows (at most "
            f"{MOST_ROWS}); use thresholds='immediate' or slack='sample', fewer classes, or fewer edges"
        )
    samples = concatenated_ranges(table[:, START], table[:, LENGTH])
    return RowLayout(table, first_rows, samples, problem.cost * weights[samples], m)


def restrict_layout(
    problem: IntervalProblem, layout: RowLayout, kept: NDArray[np.int64]
) -> tuple[RowLayout, NDArray[np.int64]]:
    """The layout of the samples that are ``kept`` (ascending), and for each of its rows the row of the whole."""
    start = layout.table[:, START]
    first, last = np.searchsorted(kept, start), np.searchsorted(kept, start + layout.table[:, LENGTH])
    table, first_rows = bundle_table(problem, first, last - first)
    samples = concatenated_ranges(first, last - first)
    slacks = kept[samples] + np.repeat(layout.table[:, SLACK] - start, last - first)
    part = RowLayout(table, first_rows, samples, layout.cost[slacks], len(kept))
    base = layout.group_starts[:-1].copy()
    for side in (GROUP, PARTNER):
        held = layout.table[:, side] >= 0
        base[layout.table[held, side]] -= start[held]
    return part, kept[part.row_sample] + base[part.row_group]


def bundle_table(
    problem: IntervalProblem, start: NDArray[np.integer], length: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table of a layout whose bundles own the given slices of the samples, and the first rows of its groups."""
    group, partner = problem.bundles.T
    table = np.empty((len(group), 7), dtype=np.int64)
    table[:, START], table[:, LENGTH], table[:, GROUP], table[:, PARTNER] = start, length, group, partner
    count = np.zeros(problem.n_groups + 1, dtype=np.int64)  # by group, after that of no partner (-1)
    count[partner + 1] = length
    count[group + 1] = length
    count[0] = 0
    first_rows = np.cumsum(count)
    table[:, ROW] = first_rows[group]
    table[:, PARTNER_ROW] = np.where(partner >= 0, first_rows[partner], -1)
    table[:, SLACK] = np.cumsum(length) - length
    return table, first_rows


def concatenated_ranges(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """All of start_i..start_i + length_i, one after the other."""
    first = np.cumsum(length) - length
    return np.arange(int(length.sum())) + np.repeat(start - first, length)
