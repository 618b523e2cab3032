"""What ``fit`` learns of a source of blocks in its first pass: classes, weights, moments, and a sample of the rows."""

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from hullrank.data import Samples, check_target, check_weights
from hullrank.data.checks import refuse_masked
from hullrank.data.labels import declared_categories, unique_inverse
from hullrank.exceptions import HullrankError, LabelError
from hullrank.problem.block_rows import Block, BlockRows, Sums
from hullrank.problem.rows import ArrayRows
from hullrank.problem.sampling import draw

Floats = NDArray[np.float64]
MEMORY = 2 << 30  # bytes that a fit may hold for rows, where a source does not say
LEAST_ROOM = 2000  # rows that every fit may hold
MOST_SAMPLED = 100_000  # most rows of the sample
_BESIDE = 30  # numbers that a solve needs for a row that is held, beside its features
_CELL = 8  # bytes of a number
_IN_SAMPLE = 4  # a sample takes at most the memory divided by this
_LEAST_SAMPLE = 2  # and at least its usual number of rows divided by this


@dataclass(frozen=True)
class FirstPass:
    """Sums of the first pass over a source.

    By label: the number of rows of positive weight, and their weight; moments of the rows (mean is None for sparse
    ones), the sample with its labels and weights, the order that a categorical y declares, and the raw rows if all of
    them fit into the memory.
    """

    counts: dict[Any, int]
    weights: dict[Any, float]
    mean: Floats | None
    spread: float
    sample: tuple[Any, NDArray[Any], Floats]
    categories: list[Any] | None
    whole: tuple[Any, Any, Floats] | None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.sample[0].shape[1])

    def as_target(self, values: NDArray[Any]) -> Any:
        """Labels as a target that declares the same order as the source's."""
        return values if self.categories is None else _Ordered(values.dtype, self.categories)


class Share(NamedTuple):
    """What the first pass may keep of a block: so many rows, or bytes, of a sample, and a block of so many bytes."""

    rows: int
    sample: int
    whole: int

    def sampled(self, X: Any) -> int:
        """Rows of the sample."""
        size = max(_bytes(X) // X.shape[0], 1)
        return max(min(self.rows, self.sample // size), self.rows // _LEAST_SAMPLE)


class _Ordered(NamedTuple):
    """What ``declared_categories`` asks of a categorical target."""

    dtype: Any
    categories: list[Any]
    ordered: bool = True


def first_pass(rows: BlockRows, n_blocks: int, memory: int, gathers: bool, discrete: bool) -> FirstPass:
    """One pass over the raw blocks of a source; ``gathers`` tells whether all rows are kept where memory holds them."""
    if n_blocks == 0:
        raise HullrankError("the source has no blocks; give it at least one with rows of two classes")
    share = Share(-(-MOST_SAMPLED // n_blocks), memory // n_blocks // _IN_SAMPLE, memory // n_blocks if gathers else 0)
    sums = rows.sum(summarise, share, discrete)
    widths = {block[0].shape[1] for block in sums["sample"]}
    if len(widths) != 1:
        raise HullrankError(
            f"the blocks of the source have different numbers of columns: {sorted(widths)}; all must have the same"
            if widths
            else "the source has no rows of positive weight; give some rows a positive weight"
        )
    if len({sp.issparse(block[0]) for block in sums["sample"]}) > 1:
        raise HullrankError("some blocks of the source are sparse and others are dense; give all of them in one form")
    if len({isinstance(label, str) for label in sums["counts"]}) > 1:
        raise LabelError("labels are words in some blocks of the source and numbers in others; make them all alike")
    mean, spread = _merged(sums["moments"])
    categories = _joined_order(sums["categories"], set(sums["counts"])) if sums["categories"] else None
    whole = _joined(sums["whole"]) if len(sums["whole"]) == len(sums["sample"]) else None
    return FirstPass(sums["counts"], sums["weights"], mean, spread, _joined(sums["sample"]), categories, whole)


def rows_held(memory: int, found: FirstPass) -> int:
    """How many rows a solve may hold beside the sample and its scaled copy: half of the memory, or more.

    To gather rows takes each of them twice, and to solve takes other numbers beside them.
    """
    n = max(found.n_features, 1)
    left = max(memory - 2 * _bytes(found.sample[0]), memory // 2)
    return left // (_CELL * (n + max(n, _BESIDE)))


def summarise(raw: tuple[Any, Any, Any, Any], share: Share, discrete: bool) -> Sums:
    """The sums of one block (a task: see ``block_rows``); small blocks are kept as a whole."""
    X, values, weights = checked(raw, discrete)
    sums: Sums = {"counts": {}, "weights": {}, "moments": [], "sample": [], "categories": [], "whole": []}
    if not len(weights):
        return sums
    if (categories := declared_categories(raw[1])) is not None:
        sums["categories"] = [categories]
    labels, codes = unique_inverse(values)
    samples = Samples(X, codes, weights, len(labels))
    items = labels.tolist()
    sums["counts"] = dict(zip(items, np.diff(samples.starts).tolist(), strict=True))
    sums["weights"] = dict(zip(items, samples.class_weight.tolist(), strict=True))
    sums["moments"] = [_moments(X, weights)]
    part = draw(samples, share.sampled(X), np.random.default_rng(len(codes)), fewest=2)
    sums["sample"] = [(_owned(part.X), labels[part.codes], part.weights)]
    if _bytes(X) <= share.whole:
        sums["whole"] = [(_owned(X), values, weights)]
    return sums


def checked(raw: tuple[Any, Any, Any, Any], discrete: bool) -> tuple[Any, NDArray[Any], Floats]:
    """The rows of a block that have a positive weight as finite float64, their target and their weights."""
    X, y, weight, qid = raw
    if qid is not None:
        raise HullrankError(
            "the source gives query ids, but class-based models place classes on one score line for all rows; leave "
            "them out, or rank within queries by SwappedPairsRanker"
        )
    X = checked_features(X)
    if X.shape[0] == 0:
        return X, np.empty(0), np.empty(0)
    values, weights = check_target(X, y, discrete=discrete), checked_weights(weight, X)
    kept = np.flatnonzero(weights)
    return (X, values, weights) if len(kept) == len(weights) else (X[kept], values[kept], weights[kept])


def checked_weights(weight: Any, X: Any) -> Floats:
    """The weights of the rows of a block; unlike those of all rows, they may all be 0."""
    return check_weights(weight, X) if weight is None or np.any(weight) else np.zeros(X.shape[0])


def checked_features(X: Any) -> Any:
    """The rows of a block as finite float64: an array, or a CSR matrix."""
    refuse_masked(X, "X")
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise HullrankError(f"a block of the source has X of shape {X.shape}; it must have rows and columns")
    try:
        X = check_array(
            X, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False, ensure_min_samples=0,
            ensure_min_features=0, input_name="X",
        )  # fmt: skip
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise HullrankError(
            f"X has words in a block of the source ({error}); turn them into numbers first, tables in Parquet by "
            "Blocks.from_parquet(..., encoder=TableEncoder())"
        ) from error
    numbers = X.data if sp.issparse(X) else X
    if not np.isfinite(numbers).all():
        row = "" if sp.issparse(X) else f" at its row {int(np.argwhere(~np.isfinite(X))[0, 0])}"
        raise HullrankError(f"X contains NaN or infinity in a block of the source{row}; drop or fill such rows")
    return X


def encode(raw: tuple[Any, Any, Any, Any], codes: dict[Any, int], factors: Floats, discrete: bool) -> Block:
    """A raw block with its labels as codes of the classes, and class weights multiplied with those of the rows."""
    X, values, weights = checked(raw, discrete)
    if not len(weights):
        return Block(X, np.empty(0, dtype=np.intp), np.empty(0))
    labels, inverse = unique_inverse(values)
    try:
        mine = np.array([codes[label] for label in labels.tolist()], dtype=np.intp)[inverse]
    except KeyError as error:
        raise HullrankError(
            f"the source gave the label {error}, which it did not give in its first pass; a block must have the same "
            "rows whenever it is read"
        ) from None
    return Block(X, mine, weights * factors[mine])


def _moments(X: Any, weights: Floats) -> tuple[float, Floats | None, float]:
    """Weight, mean (None if sparse), and sum of weight |x - mean|^2."""
    total = float(weights.sum())
    mean = None if sp.issparse(X) else ArrayRows(X).adjoint(weights) / total
    return total, mean, float(ArrayRows(X, None, mean).gram_diagonal(weights).sum())


def _merged(moments: list[tuple[float, Floats | None, float]]) -> tuple[Floats | None, float]:
    """Mean and spread of all blocks, from those of each (Chan, Golub and LeVeque 1979)."""
    total, mean, square = moments[0]
    for weight, other, part in moments[1:]:
        square += part
        if mean is not None and other is not None:
            apart = other - mean
            square += float(apart @ apart) * total * weight / (total + weight)
            mean = mean + apart * (weight / (total + weight))
        total += weight
    return mean, (square / total) ** 0.5


def _joined_order(orders: list[list[Any]], present: set[Any]) -> list[Any]:
    """The order of the labels that are present, from the orders of the blocks' categories, which may lack some."""
    different = list(dict.fromkeys(tuple(label for label in order if label in present) for order in orders))
    above = {label: set[Any]() for order in different for label in order}
    for order in different:
        for low, high in pairwise(order):
            above[high].add(low)
    try:
        joined = list(TopologicalSorter(above).static_order())
    except CycleError as error:
        raise LabelError(
            f"blocks of the source order the categories of y differently, around {error.args[1][0]!r}; give all of "
            "them the same categories"
        ) from error
    if any(low not in above[high] for low, high in pairwise(joined)):
        raise LabelError(
            "the categories of y differ from block to block, and no block says how all of them are ordered; give all "
            "blocks the same categories"
        )
    return joined


def _joined(parts: list[tuple[Any, NDArray[Any], Floats]]) -> tuple[Any, NDArray[Any], Floats]:
    """Rows, labels and weights of several blocks."""
    X = [part[0] for part in parts]
    joined = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    return joined, np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])


def _owned(X: Any) -> Any:
    """X itself, or a copy where it is a view of what a source may overwrite or unmap."""
    return X if sp.issparse(X) or X.flags.owndata else X.copy()


def _bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes)
