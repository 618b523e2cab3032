"""What hullrank uses of scikit-learn's private modules: the only file that imports it, the one to mend if it moves."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.validation import _num_samples as num_samples

__all__ = ["HasMethods", "Interval", "Options", "StrOptions", "fit_context", "num_samples", "safe_indexing"]
