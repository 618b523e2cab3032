"""Raw input becomes frozen arrays: labels to ordered codes, rows, weights and query ids checked once."""

from hullrank.data.checks import Samples, check_rows, check_target, check_weights
from hullrank.data.labels import Labels, encode_labels

__all__ = ["Labels", "Samples", "check_rows", "check_target", "check_weights", "encode_labels"]
