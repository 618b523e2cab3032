"""Data to try things on: generators with a known order, and the data sets of the papers."""

from hullrank.datasets.flexibility import make_roc_flexibility
from hullrank.datasets.generators import make_conic_classes, make_ordinal
from hullrank.datasets.grades import discretize
from hullrank.datasets.loading import dataset_names, load_dataset
from hullrank.datasets.ratings import make_ratings, ratings_to_features

__all__ = [
    "dataset_names",
    "discretize",
    "load_dataset",
    "make_conic_classes",
    "make_ordinal",
    "make_ratings",
    "make_roc_flexibility",
    "ratings_to_features",
]
