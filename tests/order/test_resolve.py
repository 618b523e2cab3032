"""Whatever stands for an order becomes an order graph between the classes at hand."""

import networkx as nx
import numpy as np
import pytest

from hullrank.exceptions import LabelError
from hullrank.order import OrderGraph, resolve_order

CHAIN = OrderGraph.chain([1, 2, 3])


@pytest.mark.parametrize(
    "order",
    ["chain", CHAIN, "1 < 2 < 3", [(1, 2), (2, 3)], ((2, 3), (1, 2)), nx.DiGraph([(2, 3), (1, 2)])],
    ids=lambda order: type(order).__name__,
)
def test_every_way_to_write_a_chain(order):
    assert resolve_order(order, np.array([1, 2, 3])) == CHAIN


def test_full_and_levels():
    assert resolve_order("full", [1, 2, 3]) == OrderGraph.full([1, 2, 3])
    assert resolve_order([[1, 2], [3]], [1, 2, 3]) == OrderGraph.from_edges([(1, 3), (2, 3)])


def test_text_stands_for_the_classes_that_print_the_same():
    assert resolve_order("0.5 < 1.5", [0.5, 1.5]).labels == (0.5, 1.5)
    assert resolve_order("b < a", ["a", "b"]).labels == ("b", "a")


def test_without_classes_only_orders_that_name_their_labels():
    assert resolve_order("a < b").labels == ("a", "b")
    with pytest.raises(LabelError, match="needs the classes"):
        resolve_order("chain")


def test_unused_labels_are_left_out_only_on_demand():
    assert resolve_order(CHAIN, [2, 1], allow_unused=True) == OrderGraph.chain([1, 2])
    with pytest.raises(LabelError, match="without a sample: 3"):
        resolve_order(CHAIN, [1, 2])
    with pytest.raises(LabelError, match="missing from the order graph: 4"):
        resolve_order(CHAIN, [1, 2, 4], allow_unused=True)


@pytest.mark.parametrize("order", [None, 3, [], ["a", "b"], [("a", "b"), ["c"]], [("a", "b", "c")]])
def test_what_is_no_order_is_refused_with_the_choices(order):
    with pytest.raises(LabelError, match="pass 'chain', 'full'"):
        resolve_order(order, ["a", "b"])
