"""Order graphs: construction, laws of closure and reduction, errors that name the culprit."""

import copy
import pickle
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hullrank import OrderGraph
from hullrank.exceptions import CyclicOrderError, LabelError
from hullrank.order.builders import quoted

# Figure 1 of Fung, Rosales and Krishnapuram: blocks of {v, w, x, y, z} with v the highest, edges (lo, hi)
FIGURE_1 = {
    "a": [("yz", "vwx")],
    "b": [("yz", "x"), ("x", "vw")],
    "c": [("yz", "x"), ("x", "vw"), ("yz", "vw")],
    "d": [(lo, hi) for i, lo in enumerate("zyxwv") for hi in "zyxwv"[i + 1 :]],
    "e": [("y", "vwx"), ("z", "vwx")],
    "f": [("y", "vw"), ("z", "vw"), ("y", "x"), ("z", "x")],
}


def sample_pairs(graph):
    """The pairs of samples (lo, hi) that a graph between blocks of samples orders."""
    return {(lo, hi) for low, high in graph.closure().edges for lo in low for hi in high}


@st.composite
def acyclic_edges(draw, most=8):
    n = draw(st.integers(1, most))
    numbers = draw(st.permutations(range(n)))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * len(pairs))) if pairs else []
    return list(range(n)), [(numbers[i], numbers[j]) for i, j in chosen]


@pytest.mark.parametrize("figure", "abcdef")
def test_figure_1_graphs_order_their_samples_as_v_to_z(figure):
    graph = OrderGraph.from_edges(FIGURE_1[figure])
    assert sample_pairs(graph) <= {(lo, hi) for lo in "zyxwv" for hi in "zyxwv" if lo > hi}
    assert set(graph.edges) == set(FIGURE_1[figure])
    assert graph.is_total == (figure in "abcd")
    assert graph.is_full == (figure in "acd")


def test_figure_1_a_to_d_order_more_and_more():
    ordered = [sample_pairs(OrderGraph.from_edges(FIGURE_1[f])) for f in "abd"]
    assert ordered[0] < ordered[1] < ordered[2]
    b, c = (OrderGraph.from_edges(FIGURE_1[f]) for f in "bc")
    assert b.closure() == c
    assert b != c
    assert b.n_edges < c.n_edges


def test_figure_1_e_and_f_are_one_partial_order_and_two_problems():
    e, f = (OrderGraph.from_edges(FIGURE_1[figure]) for figure in "ef")
    assert sample_pairs(e) == sample_pairs(f)
    assert e != f


def test_same_closure_but_other_edges_is_another_graph():
    chain, full = OrderGraph.chain("abc"), OrderGraph.full("abc")
    assert chain != full
    assert chain.closure() == full
    assert full.reduction() == chain
    assert OrderGraph.chain("ab") == OrderGraph.full("ab")


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("mild < moderate < severe", [("mild", "moderate"), ("moderate", "severe")]),
        ("severe > moderate > mild", [("mild", "moderate"), ("moderate", "severe")]),
        ("a, b < c", [("a", "c"), ("b", "c")]),
        ("a < b; a < c\n c<d", [("a", "b"), ("a", "c"), ("c", "d")]),
        ("very good > not bad", [("not bad", "very good")]),
    ],
)
def test_parse(text, edges):
    assert OrderGraph.parse(text) == OrderGraph.from_edges(edges)


def test_levels_put_all_of_a_later_level_above_all_of_an_earlier_one():
    graph = OrderGraph.from_levels([["a", "b"], ["c"], ["d", "e"]])
    assert set(graph.edges) == {
        ("a", "c"), ("b", "c"), ("a", "d"), ("a", "e"), ("b", "d"), ("b", "e"), ("c", "d"), ("c", "e")
    }  # fmt: skip
    assert graph.labels == ("a", "b", "c", "d", "e")


def test_labels_stand_in_topological_order_and_in_input_order_where_free():
    assert OrderGraph.from_edges([("b", "a"), ("c", "a")], labels=["a", "c", "b", "d"]).labels == ("c", "b", "a", "d")
    assert OrderGraph.from_edges([("b", "c"), ("a", "c")]).labels == ("b", "a", "c")


@given(acyclic_edges())
def test_closure_reduction_and_order_agree_with_networkx(case):
    labels, edges = case
    graph = OrderGraph.from_edges(edges, labels)
    reference = nx.DiGraph(edges)
    reference.add_nodes_from(labels)
    assert set(graph.closure().edges) == set(nx.transitive_closure_dag(reference).edges)
    assert set(graph.reduction().edges) == set(nx.transitive_reduction(reference).edges)
    place = {label: i for i, label in enumerate(graph.labels)}
    assert all(place[lo] < place[hi] for lo, hi in graph.edges)
    assert list(graph.labels) == list(nx.lexicographical_topological_sort(reference))
    comparable = graph.closure().n_edges
    assert graph.is_total == (comparable == len(labels) * (len(labels) - 1) // 2)
    assert graph.is_chain == (graph.is_total and graph == graph.reduction())
    assert OrderGraph.from_networkx(graph.to_networkx()) == graph


@given(acyclic_edges(), st.data())
def test_comparable_pairs_are_those_along_paths(case, data):
    labels, edges = case
    graph = OrderGraph.from_edges(edges, labels)
    sizes = st.lists(st.integers(0, 2**40), min_size=len(labels), max_size=len(labels))
    table = data.draw(st.lists(sizes, min_size=1, max_size=3))
    expected = [sum(counts[lo] * counts[hi] for lo, hi in graph.closure().codes.tolist()) for counts in table]
    assert graph.comparable_pairs(np.array(table)) == sum(expected)
    assert graph.comparable_pairs(np.array(table[0])) == expected[0]


@given(acyclic_edges(), st.randoms())
def test_equality_and_hash_ignore_the_order_of_writing(case, random):
    labels, edges = case
    graph = OrderGraph.from_edges(edges, labels)
    random.shuffle(edges)
    random.shuffle(labels)
    other = OrderGraph.from_edges([*edges, *edges[:1]], labels)
    assert graph == other
    assert hash(graph) == hash(other)
    assert graph == pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph)
    if edges:
        dropped = OrderGraph.from_edges([edge for edge in edges if edge != edges[0]], labels)
        assert graph != dropped


@given(acyclic_edges())
def test_repr_builds_the_graph_again(case):
    labels, edges = case
    if len(set(edges)) <= 12:
        graph = OrderGraph.from_edges(edges, labels)
        assert eval(repr(graph)) == graph


@given(acyclic_edges(), st.data())
def test_codes_edges_number_any_sequence_of_the_classes(case, data):
    labels, edges = case
    graph = OrderGraph.from_edges(edges, labels)
    classes = np.array(data.draw(st.permutations(labels)))
    codes = graph.codes_edges(classes)
    assert codes.dtype == np.int64
    assert codes.shape == (graph.n_edges, 2)
    assert {(classes[lo], classes[hi]) for lo, hi in codes} == set(edges)


@given(acyclic_edges(), st.data())
def test_restriction_keeps_the_edges_inside(case, data):
    labels, edges = case
    kept = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    graph = OrderGraph.from_edges(edges, labels).restrict(kept)
    assert set(graph.labels) == set(kept)
    assert set(graph.edges) == {(lo, hi) for lo, hi in edges if lo in kept and hi in kept}


@given(acyclic_edges(), st.data())
def test_a_cycle_is_found_and_printed(case, data):
    labels, edges = case
    graph = OrderGraph.from_edges(edges, labels).closure()
    back = data.draw(st.sampled_from([(hi, lo) for lo, hi in graph.edges] + [(label, label) for label in labels]))
    with pytest.raises(CyclicOrderError) as error:
        OrderGraph.from_edges([*edges, back], labels)
    cycle = [int(label) for label in str(error.value).split(": ")[1].split(";")[0].split(" < ")]
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert all(edge in {*edges, back} for edge in pairwise(cycle))


def test_chain_of_many_labels_needs_no_quadratic_storage():
    n = 50_000
    chain = OrderGraph.chain(np.arange(n) / 7)
    full = chain.closure()
    assert chain.is_chain
    assert full.is_full
    assert full.n_edges == n * (n - 1) // 2
    assert full.reduction() == chain
    assert full == OrderGraph.full(chain.labels)
    assert len(chain.codes_edges(chain.labels)) == n - 1
    assert len(repr(full)) < 300


def test_numpy_labels_become_plain_and_match_python_ones():
    graph = OrderGraph.chain(np.array([1, 2, 3]))
    assert graph == OrderGraph.chain([1, 2, 3])
    assert np.int64(2) in graph
    assert 4 not in graph
    assert repr(OrderGraph.chain(np.array(["a", "b"]))) == "OrderGraph.chain(['a', 'b'])"


def test_graph_cannot_be_changed():
    graph = OrderGraph.chain("abc")
    with pytest.raises(AttributeError):
        graph.labels = ("c", "b", "a")
    with pytest.raises(ValueError, match="read-only"):
        graph.codes[0, 0] = 2
    assert len({graph, OrderGraph.parse("a < b < c")}) == 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: OrderGraph.chain([]), "at least one label"),
        (lambda: OrderGraph.chain("aba"), "'a' twice"),
        (lambda: OrderGraph.chain([1.0, float("nan")]), "nan"),
        (lambda: OrderGraph.chain([None, 1]), "None"),
        (lambda: OrderGraph.chain([["a"], ["b"]]), "not hashable"),
        (lambda: OrderGraph.from_edges([("a", "b", "c")]), "is not an edge"),
        (lambda: OrderGraph.from_edges(["ab"]), "is not an edge"),
        (lambda: OrderGraph.from_edges([("a", "b")], labels=["a"]), "not in labels: 'b'"),
        (lambda: OrderGraph.from_levels(["ab", "c"]), "is not a level"),
        (lambda: OrderGraph.from_levels([["a"], []]), "empty"),
        (lambda: OrderGraph.from_levels([["a"], ["a", "b"]]), "'a' twice"),
        (lambda: OrderGraph.parse("a < b > c"), "mixes < and >"),
        (lambda: OrderGraph.parse("a < < b"), "empty label"),
        (lambda: OrderGraph.parse(" ; "), "empty"),
        (lambda: OrderGraph.from_networkx(nx.Graph([(1, 2)])), "undirected"),
        (lambda: OrderGraph.chain("abc").codes_edges("ab"), "unknown labels, without a sample: 'c'"),
        (lambda: OrderGraph.chain("abc").codes_edges("abcd"), "missing from the order graph: 'd'"),
        (lambda: OrderGraph.chain("abc").restrict("axy"), "missing from the order graph: 'x', 'y'"),
        (lambda: OrderGraph.chain("abc").relabel({"a": "b"}), "'b' twice"),
    ],
)
def test_bad_orders_are_named(build, message):
    with pytest.raises(LabelError, match=message):
        build()


class TestQuotedLabels:
    def test_signs_of_an_order_within_quotes_are_part_of_the_label(self):
        graph = OrderGraph.parse("""'< 5' < "5, or 6" < "the ""best""; of all" < it's""")
        assert graph.labels == ("< 5", "5, or 6", 'the "best"; of all', "it's")
        assert OrderGraph.parse('"a", b > "c"').edges == OrderGraph.parse("c < a, b").edges

    @given(st.lists(st.text(st.sampled_from("ab<>,;\"' \n="), max_size=6), min_size=2, max_size=5, unique=True))
    def test_quoted_labels_come_back(self, labels):
        assert OrderGraph.parse(" < ".join(map(quoted, labels))).labels == tuple(labels)

    @pytest.mark.parametrize(
        ("text", "message"),
        [("a <= b", "'<='"), ("a >= b", "'>='"), ("a < < b", "empty"), ("a < b <", "empty"), ("a < b > c", "mixes")],
    )
    def test_what_is_no_order(self, text, message):
        with pytest.raises(LabelError, match=message):
            OrderGraph.parse(text)
