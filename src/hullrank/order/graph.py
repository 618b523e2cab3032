"""The order graph: an immutable acyclic graph between class labels."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hullrank.exceptions import CyclicOrderError, LabelError, few
from hullrank.order.builders import LabelEdges, check_labels, edge_list, level_edges, plain_label, text_edges
from hullrank.order.sorting import (
    Edges,
    find_cycle,
    pairs_along_paths,
    pairs_in_chains,
    topological_order,
    transitive_closure,
    transitive_reduction,
)


@dataclass(frozen=True, eq=False, repr=False)
class OrderGraph:
    """Which class must lie above which: an acyclic graph with edges (lo, hi), hi above lo.

    Build it by `chain`, `full`, `from_edges`, `from_levels`, `parse` or `from_networkx`. Two graphs are equal when they
    have the same labels and the same edges. Graphs with the same closure describe the same partial order, but they are
    different ranking problems (Fung, Rosales and Krishnapuram 2005, figure 1), so they are not equal.

    Attributes
    ----------
    labels : tuple
        The labels in topological order, lowest first; in the order given where the edges leave it free.
    n_edges : int
    edges : list of (lo, hi) labels
    is_total : bool
        Whether any two labels are comparable.
    is_full : bool
        Whether any two labels are joined by an edge.

    Examples
    --------
    >>> from hullrank import OrderGraph
    >>> OrderGraph.chain(["mild", "moderate", "severe"]) == OrderGraph.parse("mild < moderate < severe")
    True
    >>> order = OrderGraph.from_levels([["a", "b"], ["c"], ["d"]])
    >>> order.is_total, order.n_edges
    (False, 5)
    >>> order.reduction().edges
    [('a', 'c'), ('b', 'c'), ('c', 'd')]
    """

    labels: tuple[Hashable, ...]
    _codes: Edges | None  # (E, 2) in terms of labels, sorted, lo < hi; None for the full graph, which needs no storing

    @classmethod
    def chain(cls, labels: Iterable[Hashable]) -> "OrderGraph":
        """Every label directly above the one before it; ``labels`` from lowest to highest."""
        plain = tuple(check_labels(labels))
        return cls._stored(plain, np.arange(len(plain) - 1)[:, None] + np.arange(2))

    @classmethod
    def full(cls, labels: Iterable[Hashable]) -> "OrderGraph":
        """Every label directly above all before it; ``labels`` from lowest to highest."""
        return cls(tuple(check_labels(labels)), None)

    @classmethod
    def from_edges(cls, edges: Iterable[Any], labels: Iterable[Hashable] | None = None) -> "OrderGraph":
        """Edges (lo, hi), each putting hi above lo.

        Parameters
        ----------
        edges : iterable of (lo, hi) labels
            Repeated edges count once.
        labels : iterable of labels, default=None
            All labels, if some have no edge, or to fix their order where the edges leave it free.
        """
        return cls._sorted(*edge_list(edges, labels))

    @classmethod
    def from_levels(cls, levels: Iterable[Iterable[Hashable]]) -> "OrderGraph":
        """Everything in a later level directly above everything in an earlier one, as in ``[["a", "b"], ["c"]]``."""
        return cls._sorted(*level_edges(levels))

    @classmethod
    def parse(cls, text: str) -> "OrderGraph":
        """An order written as text, such as ``"mild < moderate < severe"``.

        A comma joins labels side by side (``"a, b < c"``: c above both); semicolons or newlines separate statements;
        ``>`` reads the other way round. Each label is joined to its direct neighbours only, so a single row of ``<`` is
        a chain. A label that holds one of these signs stands in quotes, in which a doubled quote is one (``"small" <
        "large, or 'big'"``). Labels are strings; `resolve_order` matches them with numeric classes.
        """
        return cls._sorted(*text_edges(text))

    @classmethod
    def from_networkx(cls, graph: Any) -> "OrderGraph":
        """A directed networkx graph whose edges point from the lower to the higher label."""
        if not graph.is_directed():
            raise LabelError("an undirected graph says nothing about which label is higher; pass a networkx.DiGraph")
        return cls.from_edges(((lo, hi) for lo, hi in graph.edges()), labels=graph.nodes())

    @classmethod
    def _sorted(cls, labels: list[Hashable], edges: LabelEdges) -> "OrderGraph":
        number = {label: i for i, label in enumerate(labels)}
        codes = np.array([(number[lo], number[hi]) for lo, hi in edges], dtype=np.int64).reshape(-1, 2)
        order = topological_order(len(labels), codes)
        if len(order) < len(labels):
            cycle = [str(labels[i]) for i in find_cycle(len(labels), codes, order)]
            raise CyclicOrderError(f"the order contains a cycle: {' < '.join(cycle)}; remove one of these edges")
        return cls._canonical(tuple(labels[i] for i in order), np.argsort(order)[codes])

    @classmethod
    def _canonical(cls, labels: tuple[Hashable, ...], codes: Edges) -> "OrderGraph":
        """Sort the edges and drop repeated ones; the codes already follow the topological order of the labels."""
        n = len(labels)
        lo, hi = np.divmod(np.unique(codes[:, 0] * n + codes[:, 1]), n)
        return cls._stored(labels, np.stack([lo, hi], axis=1))

    @classmethod
    def _stored(cls, labels: tuple[Hashable, ...], codes: Edges) -> "OrderGraph":
        """From sorted edges, which are forgotten if they are all that there can be."""
        n = len(labels)
        if 2 * len(codes) == n * (n - 1):
            return cls(labels, None)
        codes.flags.writeable = False
        return cls(labels, codes)

    @property
    def codes(self) -> Edges:
        """(n_edges, 2) array of the edges (lo, hi) as positions in ``labels``, sorted; lo < hi always."""
        if self._codes is None:
            return np.stack(np.triu_indices(len(self.labels), k=1), axis=1).astype(np.int64, copy=False)
        return self._codes

    def codes_edges(self, classes: Iterable[Hashable]) -> Edges:
        """(n_edges, 2) array of the edges (lo, hi) as positions in ``classes``, which must hold the same labels."""
        position = np.array(self._positions(classes), dtype=np.int64)
        return position[self.codes]

    def _positions(self, classes: Iterable[Hashable]) -> list[int]:
        """Where every label stands in ``classes``, which must be exactly the labels of the graph."""
        place = {label: i for i, label in enumerate(self._known(classes))}
        unknown = [label for label in self.labels if label not in place]
        if unknown:
            raise LabelError(f"the order graph names unknown labels, without a sample: {few(unknown)}; remove them")
        return [place[label] for label in self.labels]

    def _known(self, classes: Iterable[Hashable]) -> list[Hashable]:
        """The classes, all of which must be labels of the graph."""
        plain, known = check_labels(classes), set(self.labels)
        missing = [label for label in plain if label not in known]
        if missing:
            raise LabelError(f"labels missing from the order graph: {few(missing)}; add them, or drop their samples")
        return plain

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        n = len(self.labels)
        return n * (n - 1) // 2 if self._codes is None else len(self._codes)

    @property
    def edges(self) -> list[tuple[Hashable, Hashable]]:
        """All edges as pairs of labels (lo, hi), in topological order."""
        return [(self.labels[lo], self.labels[hi]) for lo, hi in self.codes.tolist()]

    @property
    def is_full(self) -> bool:
        """Whether any two labels are joined by an edge."""
        return self._codes is None

    @cached_property
    def is_total(self) -> bool:
        """Whether any two labels are comparable."""
        if self._codes is None:
            return True
        lo, hi = self._codes.T
        return int(np.count_nonzero(hi - lo == 1)) == len(self.labels) - 1

    @property
    def is_chain(self) -> bool:
        """Whether every label is joined to its direct neighbours only."""
        return self.is_total and self.n_edges == len(self.labels) - 1

    def closure(self) -> "OrderGraph":
        """The graph with an edge for any two comparable labels: the partial order itself."""
        if self.is_total:
            return OrderGraph(self.labels, None)
        return self._canonical(self.labels, transitive_closure(len(self.labels), self.codes))

    def reduction(self) -> "OrderGraph":
        """The graph with the fewest edges and the same closure."""
        if self.is_total:
            return OrderGraph.chain(self.labels)
        return self._canonical(self.labels, transitive_reduction(len(self.labels), self.codes))

    def comparable_pairs(self, counts: Any) -> int:
        """The number of pairs of samples whose labels are comparable.

        Parameters
        ----------
        counts : array of shape (n_labels,) or (n_groups, n_labels)
            The number of samples of every label; with groups, samples of one group make pairs.
        """
        table = np.atleast_2d(counts)
        return pairs_in_chains(table) if self.is_total else pairs_along_paths(table, self.codes)

    def check_classes(self, classes: Iterable[Hashable]) -> None:
        """Raise a `LabelError` that names the culprits unless ``classes`` are exactly the labels of the graph."""
        self._positions(classes)

    def restrict(self, classes: Iterable[Hashable]) -> "OrderGraph":
        """The graph between ``classes`` alone, with the edges between them."""
        wanted = set(self._known(classes))
        kept = np.array([label in wanted for label in self.labels])
        labels = tuple(label for label in self.labels if label in wanted)
        if self._codes is None:
            return OrderGraph(labels, None)
        inside = kept[self._codes].all(axis=1)
        return self._canonical(labels, (np.cumsum(kept) - 1)[self._codes[inside]])

    def relabel(self, mapping: dict[Hashable, Hashable]) -> "OrderGraph":
        """The same graph with other labels; labels without an entry stay."""
        return OrderGraph(tuple(check_labels(mapping.get(label, label) for label in self.labels)), self._codes)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` with edges from the lower to the higher label (needs networkx)."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.labels)
        graph.add_edges_from(self.edges)
        return graph

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: Any) -> bool:
        return plain_label(label) in set(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OrderGraph):
            return NotImplemented
        if self.n_edges != other.n_edges or set(self.labels) != set(other.labels):
            return False
        if self.labels == other.labels:
            return self.is_full or bool(np.array_equal(self.codes, other.codes))
        return not self.is_full and self._edge_keys(self.labels) == other._edge_keys(self.labels)

    def _edge_keys(self, labels: tuple[Hashable, ...]) -> bytes:
        codes = self.codes_edges(labels)
        return np.sort(codes[:, 0] * len(labels) + codes[:, 1]).tobytes()

    def __hash__(self) -> int:
        return hash((frozenset(self.labels), self.n_edges))

    def __repr__(self) -> str:
        if self.is_chain:
            return f"OrderGraph.chain({_short(self.labels)})"
        if self.is_full:
            return f"OrderGraph.full({_short(self.labels)})"
        lonely = len(np.unique(self.codes)) < len(self.labels)
        labels = f", labels={_short(self.labels)}" if lonely else ""
        return f"OrderGraph.from_edges({_short(self.edges)}{labels})"


def _short(items: Iterable[Any], most: int = 12) -> str:
    """A list as Python prints it, its middle left out when it is long."""
    names = [repr(item) for item in items]
    if len(names) > most:
        names = [*names[: most // 2], "...", *names[-(most // 2) :]]
    return f"[{', '.join(names)}]"
