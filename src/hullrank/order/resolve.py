"""From whatever an estimator or metric is given as ``order`` to an order graph between the classes at hand."""

from collections.abc import Hashable, Iterable
from typing import Any

from hullrank.exceptions import LabelError
from hullrank.order.builders import check_labels
from hullrank.order.graph import OrderGraph


def resolve_order(order: Any, classes: Iterable[Hashable] | None = None, *, allow_unused: bool = False) -> OrderGraph:
    """The order graph that ``order`` stands for.

    Parameters
    ----------
    order : {"chain", "full"}, OrderGraph, str, list of edges, list of levels, or networkx.DiGraph
        "chain" and "full" take the classes from lowest to highest. Any other text is read by `OrderGraph.parse`; its
        labels stand for the classes that print the same. A list of pairs (tuples) is a list of edges (lo, hi), a list
        of lists a list of levels.
    classes : iterable of labels, default=None
        The classes, lowest first; if given, the graph must have exactly these labels.
    allow_unused : bool, default=False
        Whether labels of the graph that are not among ``classes`` are left out instead of raising an error.

    Returns
    -------
    graph : OrderGraph
    """
    if isinstance(order, str) and order in ("chain", "full"):
        if classes is None:
            raise LabelError(f"order={order!r} needs the classes; pass OrderGraph.{order}([...]) instead")
        return OrderGraph.chain(classes) if order == "chain" else OrderGraph.full(classes)
    graph = _build(order)
    if classes is None:
        return graph
    labels = check_labels(classes)
    if isinstance(order, str):
        printed = {str(label): label for label in labels}
        graph = graph.relabel({text: printed[text] for text in map(str, graph.labels) if text in printed})
    if allow_unused:
        return graph.restrict(labels)
    graph.check_classes(labels)
    return graph


def _build(order: Any) -> OrderGraph:
    if isinstance(order, OrderGraph):
        return order
    if isinstance(order, str) and any(sign in order for sign in "<>"):
        return OrderGraph.parse(order)
    if hasattr(order, "is_directed"):
        return OrderGraph.from_networkx(order)
    if isinstance(order, list | tuple) and order:
        if all(isinstance(item, tuple) and len(item) == 2 for item in order):
            return OrderGraph.from_edges(order)
        if all(isinstance(item, list | set | frozenset) for item in order):
            return OrderGraph.from_levels(order)
    raise LabelError(
        f"order={order!r} is no order; pass 'chain', 'full', text such as 'a < b < c', a list of edges [(lo, hi)], "
        "a list of levels [['a', 'b'], ['c']], an OrderGraph, or a networkx.DiGraph"
    )
