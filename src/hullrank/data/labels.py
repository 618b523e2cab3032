"""From y, and whatever order it declares, to class codes 0..K-1, lowest class first."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import LabelError, UndeclaredOrderWarning, few

_NUMBERED = (
    "scikit-learn's cross_val_predict numbers words alphabetically for this method, so give y as numbers in the right "
    "order (0 for the lowest) and leave out classes"
)


@dataclass(frozen=True)
class Labels:
    """The classes from lowest to highest (for a partial order: in topological order) and every sample's class."""

    classes: NDArray[Any]
    codes: NDArray[np.intp]


def encode_labels(y: Any, values: NDArray[Any], declared: Sequence[Hashable] | None = None) -> Labels:
    """Codes of the checked target ``values`` under the declared order, else the order of ``y`` itself.

    Numbers are ordered by value, an ordered pandas Categorical or a polars Enum by its categories (unused ones drop
    out), strings by ``declared``; strings without a declared order are sorted alphabetically, with a warning.
    """
    if declared is not None:
        return _encode_declared(values, declared)
    categories = declared_categories(y)
    if categories is not None:
        present = set(values.tolist())
        return _encode_declared(values, [c for c in categories if c in present])
    try:
        classes, codes = unique_inverse(values) if values.dtype != object else np.unique(values, return_inverse=True)
    except TypeError as error:
        raise LabelError(
            f"y mixes labels that cannot be ordered ({error}); declare their order by classes=[...]"
        ) from error
    if classes.dtype.kind in "OUST":
        order = " < ".join(map(str, classes[:5])) + (" < ..." if len(classes) > 5 else "")
        warnings.warn(
            f"string labels were ordered alphabetically ({order}); declare the order by "
            f"classes={[str(c) for c in classes[:5]]}, put into the right order from lowest to highest, or by an "
            "ordered Categorical or an OrderGraph",
            UndeclaredOrderWarning,
            stacklevel=3,
        )
    return Labels(classes, codes)


def declared_categories(y: Any) -> list[Any] | None:
    """The order that a pandas Categorical (ordered) or polars Enum column carries, or None."""
    if isinstance(y, np.ndarray | list):
        return None
    if hasattr(y, "dtype") and hasattr(y, "categories") and getattr(y, "ordered", False):  # a bare pandas Categorical
        return list(y.categories)
    column: Any = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(column, nw.DataFrame) and len(column.columns) == 1:
        column = column[column.columns[0]]
    if isinstance(column, nw.Series) and isinstance(column.dtype, nw.Enum):
        return list(column.dtype.categories)
    return None


def _encode_declared(values: NDArray[Any], declared: Sequence[Hashable]) -> Labels:
    place = {label: code for code, label in enumerate(declared)}
    if len(place) < len(declared):
        twice = next(label for i, label in enumerate(declared) if label in declared[:i])
        raise LabelError(f"the declared order names {twice!r} twice; name every class once")
    distinct, inverse = unique_inverse(values)
    items = distinct.tolist()
    unknown = [label for label in items if label not in place]
    if unknown:
        numbered = items == list(range(len(declared))) and isinstance(declared[0], str)
        raise LabelError(
            f"y has labels that are not in the declared order: {few(unknown)}; "
            + (_NUMBERED if numbered else "add them to the order or drop the samples")
        )
    seen = set(items)
    missing = [label for label in declared if label not in seen]
    if missing:
        raise LabelError(
            f"the declared order has classes without a sample (of positive weight): {few(missing)}; "
            "remove them from the order"
        )
    codes = np.array([place[label] for label in items], dtype=np.intp)[inverse]
    return Labels(_as_array(declared), codes)


def distinct_labels(values: NDArray[Any]) -> list[Any]:
    """The different labels of a checked target, as plain Python values; sorted unless they are objects."""
    return unique_inverse(values)[0].tolist()


def unique_inverse(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct values and where each entry stands among them; Python objects keep the order of their appearance."""
    shifted = _small_numbers(values)
    if shifted is not None:
        present = np.zeros(int(shifted.max()) + 1, dtype=bool)
        present[shifted] = True
        classes = np.flatnonzero(present)
        if len(classes) < len(present):
            place = np.empty(len(present), dtype=np.intp)
            place[classes] = np.arange(len(classes))
            shifted = place[shifted]
        return (classes + values.min().item()).astype(values.dtype), shifted
    if values.dtype != object:
        return np.unique(values, return_inverse=True)
    seen: dict[Any, int] = {}
    inverse = np.array([seen.setdefault(value, len(seen)) for value in values.tolist()], dtype=np.intp)
    return _as_array(list(seen)), inverse


def _small_numbers(values: NDArray[Any]) -> NDArray[np.intp] | None:
    """Whole numbers, less the least of them, where their range is small beside their number: a table then takes less
    time than a sort. None of other values."""
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8 or not len(values):
        return None
    least, most = values.min().item(), values.max().item()
    if not (least > -(2**53) and most < 2**53 and most - least <= 32 * len(values)):
        return None
    whole = values.astype(np.intp)
    if values.dtype.kind == "f" and not np.array_equal(whole, values):
        return None
    whole -= int(least)
    return whole


def _as_array(labels: Sequence[Hashable]) -> NDArray[Any]:
    plain = np.asarray(labels)
    mixed = len({type(label) for label in labels}) > 1 and plain.dtype.kind in "USO"
    if plain.ndim == 1 and not mixed:
        return plain
    boxed = np.empty(len(labels), dtype=object)
    boxed[:] = list(labels)
    return boxed
