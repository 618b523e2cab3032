"""What hullrank uses of scikit-learn's private modules: the only file that imports it, the one to mend if it moves."""

try:
    from sklearn.utils import _safe_indexing as safe_indexing
    from sklearn.utils._param_validation import (
        HasMethods,
        Interval,
        Options,
        StrOptions,
        validate_parameter_constraints,
    )
    from sklearn.utils.validation import _num_samples as num_samples
except ImportError as error:
    import sklearn

    raise ImportError(
        f"this release of hullrank does not fit scikit-learn {sklearn.__version__} ({error}); it needs 1.7 or later. "
        "Try the newest releases of both: pip install --upgrade hullrank scikit-learn. If that does not help, "
        "scikit-learn is too new: install the one before it"
    ) from error

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "StrOptions",
    "num_samples",
    "safe_indexing",
    "validate_parameter_constraints",
]
