"""Which class must lie above which: acyclic order graphs and the ways to write them down."""

from hullrank.order.graph import OrderGraph
from hullrank.order.resolve import resolve_order

__all__ = ["OrderGraph", "resolve_order"]
