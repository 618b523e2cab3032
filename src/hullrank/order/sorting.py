"""Graph algorithms on edges (lo, hi) between node numbers: topological order, cycles, reachability."""

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]  # (E, 2): lo, hi


def successors(n: int, edges: Edges) -> list[list[int]]:
    """The nodes directly above every node, ascending."""
    by_lo = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    ends = np.searchsorted(by_lo[:, 0], np.arange(n + 1)).tolist()
    above = by_lo[:, 1].tolist()
    return [above[start:stop] for start, stop in pairwise(ends)]


def topological_order(n: int, edges: Edges) -> list[int]:
    """Nodes from lowest to highest, by number where the edges leave it free; shorter than n if there is a cycle."""
    above = successors(n, edges)
    waiting = np.bincount(edges[:, 1], minlength=n).tolist()
    ready = [node for node in range(n) if not waiting[node]]
    heapify(ready)
    order = []
    while ready:
        node = heappop(ready)
        order.append(node)
        for hi in above[node]:
            waiting[hi] -= 1
            if not waiting[hi]:
                heappush(ready, hi)
    return order


def find_cycle(n: int, edges: Edges, sorted_nodes: list[int]) -> list[int]:
    """A cycle lo < ... < lo among the nodes that ``topological_order`` could not place."""
    left = set(range(n)).difference(sorted_nodes)
    below = {hi: lo for lo, hi in edges.tolist() if lo in left and hi in left}
    node = min(below)  # every node left has one left below it, so walking down never ends
    place: dict[int, int] = {}
    path: list[int] = []
    while node not in place:
        place[node] = len(path)
        path.append(node)
        node = below[node]
    return [node, *reversed(path[place[node] :])]


def reachable(n: int, edges: Edges) -> list[int]:
    """For every node the set of all nodes above it, as the bits of an integer; edges run from low to high numbers."""
    above = successors(n, edges)
    reach = [0] * n
    for node in reversed(range(n)):
        bits = 0
        for hi in above[node]:
            bits |= reach[hi] | 1 << hi
        reach[node] = bits
    return reach


def pairs_along_paths(counts: NDArray[np.integer], edges: Edges) -> int:
    """Pairs of things at two nodes that a path joins, from the (G, n) numbers of things of G groups at every node."""
    n = counts.shape[1]
    width = (n + 7) // 8
    pairs = 0
    for node, bits in enumerate(reachable(n, edges)):
        if bits:
            packed = np.frombuffer(bits.to_bytes(width, "little"), np.uint8)
            above = np.unpackbits(packed, count=n, bitorder="little").view(bool)
            pairs += _exact_product(counts[:, node], counts[:, above].sum(axis=1))
    return pairs


def pairs_in_chains(counts: NDArray[np.integer]) -> int:
    """Pairs of things at two nodes of a chain, from the (G, n) numbers of things of G groups at every node."""
    totals = counts.sum(axis=1)
    return (_exact_product(totals, totals) - _exact_product(counts.ravel(), counts.ravel())) // 2


def _exact_product(a: NDArray[np.integer], b: NDArray[np.integer]) -> int:
    """The inner product of whole numbers of any size."""
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def transitive_closure(n: int, edges: Edges) -> Edges:
    """All (lo, hi) with a path from lo up to hi."""
    width = (n + 7) // 8
    packed = b"".join(bits.to_bytes(width, "little") for bits in reachable(n, edges))
    table = np.unpackbits(np.frombuffer(packed, np.uint8).reshape(n, width), axis=1, count=n, bitorder="little")
    return np.argwhere(table).astype(np.int64)


def transitive_reduction(n: int, edges: Edges) -> Edges:
    """The edges that no longer path replaces; unique for an acyclic graph."""
    reach = reachable(n, edges)
    kept = []
    for lo, above in enumerate(successors(n, edges)):
        covered = 0
        for hi in above:  # ascending, so whatever lies between lo and hi comes first
            if not covered >> hi & 1:
                kept.append((lo, hi))
                covered |= reach[hi]
    return np.array(kept, dtype=np.int64).reshape(-1, 2)
