"""Samples of samples: evenly from every class."""

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples

FEWEST = 20  # rows of a class that are always drawn, if it has so many


def drawn_positions(
    starts: NDArray[np.integer], size: int, rng: np.random.Generator, fewest: int = FEWEST
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """About ``size`` positions of class-sorted rows, evenly from every class, and how many each class gave."""
    lengths = np.diff(starts)
    counts = np.minimum(lengths, np.maximum(fewest, -(-lengths * size // max(int(starts[-1]), 1))))
    pieces = [
        start + ((np.arange(count) + rng.random(count)) * (length / max(count, 1))).astype(np.intp)
        for start, length, count in zip(starts[:-1], lengths, counts, strict=True)
    ]
    return np.concatenate(pieces), counts


def draw(samples: Samples, size: int, rng: np.random.Generator, fewest: int = FEWEST) -> Samples:
    """About ``size`` of the samples, with weights raised so that every class keeps its weight."""
    if size >= len(samples.codes):
        return samples
    positions = samples.rows[drawn_positions(samples.starts, size, rng, fewest)[0]]
    codes, weights = samples.codes[positions], samples.weights[positions]
    part = np.bincount(codes, weights, samples.n_classes)
    raised = np.divide(samples.class_weight, part, out=np.zeros(samples.n_classes), where=part > 0)
    return Samples(samples.X[positions], codes, weights * raised[codes], samples.n_classes)
