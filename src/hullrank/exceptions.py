"""One class per broken rule and per warning; each message says what to do about it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

__all__ = [
    "CollapsedRankingWarning",
    "ConvergenceWarning",
    "CyclicOrderError",
    "DatasetError",
    "FoldsStopped",
    "HullrankError",
    "InfeasibleParameterError",
    "KernelError",
    "LabelError",
    "MissingExtraError",
    "ModelFileError",
    "NoComparablePairError",
    "NotSeparableError",
    "QueryWarning",
    "ScaleWarning",
    "TableError",
    "TableWarning",
    "UndecidedOrderWarning",
    "UndeclaredOrderWarning",
    "UndefinedMetricWarning",
    "WeakPriceWarning",
]


class HullrankError(ValueError):
    """Base of all errors that hullrank raises about its input."""


class CyclicOrderError(HullrankError):
    """The declared order contains a cycle; the message prints it."""


class DatasetError(HullrankError):
    """A data set that is unknown, cannot be found or fetched, or is not what it should be."""


class LabelError(HullrankError):
    """A label is unknown, missing, or cannot be ordered; the message names it."""


class InfeasibleParameterError(HullrankError):
    """A parameter for which the problem has no finite optimum; the message gives the range that works."""


class KernelError(HullrankError):
    """Kernel values or parameters that no solver can work with: wrong shape, asymmetric, not finite, indefinite."""


class NotSeparableError(HullrankError):
    """A hard margin was asked for on data that cannot be separated; the message names a violated pair."""


class NoComparablePairError(HullrankError):
    """No two samples (of one query) have different targets, so there is nothing to rank."""


class TableError(HullrankError):
    """A data file cannot be read, or its columns do not fit; the message names the file, column or line."""


class ModelFileError(HullrankError):
    """A model file is damaged, hostile, or too new; or a model holds something that files do not carry."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed; the message gives the command that installs it."""


class CollapsedRankingWarning(UserWarning):
    """The optimum of the stated problem ranks nothing: crossed intervals or a vanishing score range."""


class QueryWarning(UserWarning):
    """Queries that are about to be a feature, or pairs that are counted across queries."""


class FoldsStopped(KeyboardInterrupt):
    """Ctrl-C before an estimator was fitted to every fold; ``estimator`` is what the fit on all rows gave."""

    def __init__(self, estimator: Any) -> None:
        super().__init__()
        self.estimator = estimator


class ScaleWarning(UserWarning):
    """Columns whose scales differ so much that the penalty or the kernel sees only some of them."""


class TableWarning(UserWarning):
    """Something about a column that changes what is learned from it: words taken as missing, doubtful signs."""


class UndeclaredOrderWarning(UserWarning):
    """String labels were ordered alphabetically because no order was declared."""


class UndecidedOrderWarning(UserWarning):
    """A search for the order of classes leaves some of them incomparable, because the data do not decide it."""


class WeakPriceWarning(UserWarning):
    """C is so small that weights of 0 are as good, or that no pair leaves the margin."""


def few(names: Iterable[Any], most: int = 5) -> str:
    """The first of some names, and how many more there are, for a message."""
    names = list(names)
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def __getattr__(name: str) -> Any:
    """Two warnings are scikit-learn's own; loading it takes a second, which an error in a file need not wait for."""
    if name in ("ConvergenceWarning", "UndefinedMetricWarning"):
        import sklearn.exceptions

        return getattr(sklearn.exceptions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
