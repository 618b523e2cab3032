"""Raw input becomes frozen arrays: labels to ordered codes, rows, weights and query ids checked once."""

from hullrank.data.checks import Samples, check_queries, check_rows, check_target, check_weight_sizes, check_weights
from hullrank.data.distinct import distinct_rows
from hullrank.data.labels import Labels, declared_categories, distinct_labels, encode_labels
from hullrank.data.queries import qid_from_groups
from hullrank.data.row_view import RowView, pieces, rows_of

__all__ = [
    "Labels",
    "RowView",
    "Samples",
    "check_queries",
    "check_rows",
    "check_target",
    "check_weight_sizes",
    "check_weights",
    "declared_categories",
    "distinct_labels",
    "distinct_rows",
    "encode_labels",
    "pieces",
    "qid_from_groups",
    "rows_of",
]
