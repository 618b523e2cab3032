"""``--groups``: raters, panels or sites whose grades cannot be compared, and what they do not go together with."""

import numpy as np

from hullrank.cli.data import Columns, Data
from hullrank.exceptions import HullrankError, TableError
from hullrank.order import OrderGraph

_REASONS = {
    "--qid": "rows are compared within queries, or within groups",
    "--probabilities": "a grade has another probability in every group",
    "--tune": "its folds count pairs across groups; set C by --set C=...",
    "--order auto": "it compares grades across groups; state the order",
}


def refuse_beside_groups(columns: Columns, asked: dict[str, bool]) -> None:
    """Refuse the options asked for that cannot be had together with groups, before anything is read."""
    if columns.groups is None:
        return
    for option, wanted in {"--qid": columns.qid is not None, **asked}.items():
        if wanted:
            raise HullrankError(f"--groups cannot be had together with {option}: {_REASONS[option]}")


def check_every_group(data: Data, graph: OrderGraph | None, columns: Columns) -> None:
    """Refuse rows without a group, and orders whose grades have no thresholds between them."""
    if data.groups is None:
        return
    if graph is not None and not graph.is_total:
        raise HullrankError("--groups cut grades at thresholds of their own, and a partial order has none")
    missing = np.flatnonzero(data.groups == "")
    if len(missing):
        raise TableError(f"row {data.numbers[missing[0]]} has no group in column {columns.groups!r}")
