"""What a fitted model learned, as tables: weights with bootstrap errors, the place of every class, and the proof."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hullrank._pipelines import Unwrapped, unwrap
from hullrank.exceptions import HullrankError
from hullrank.models.bootstrap import Spread, bootstrap
from hullrank.models.influence import permutation_influence

Floats = NDArray[np.float64]
Columns = dict[str, list[Any]]
_SHOWN = 25  # rows of a table as text


@dataclass(frozen=True)
class Summary:
    """Tables about a fitted model; ``print`` shows them, ``to_frame`` gives one as a data frame.

    Parameters
    ----------
    model : str
        The name of its class.
    coefficients : dict of columns
        Feature and weight, largest first; with data also standard error and interval over bootstrap resamples. Empty if
        the model has no weights.
    influences : dict of columns
        For models without weights, with data: how far pair accuracy falls when a feature is shuffled.
    classes : dict of columns
        Class, ends of its interval, threshold above it (with its standard error) and margin to the next class, in units
        of the score and, for linear models, as a distance between the two in the space of the features.
    certificate : Certificate or None
    n_resamples : int
        Bootstrap resamples behind the errors.
    level : float
        Of the intervals.
    """

    model: str
    coefficients: Columns
    influences: Columns
    classes: Columns
    certificate: Any
    n_resamples: int
    level: float

    def to_frame(
        self, table: Literal["coefficients", "influences", "classes"] = "coefficients", *, backend: Any = "pandas"
    ) -> Any:
        """One of the tables as a data frame of pandas, or of another ``backend``, such as "polars" or "pyarrow"."""
        if table not in ("coefficients", "influences", "classes"):
            raise HullrankError(f"there is no table {table!r}; choose 'coefficients', 'influences' or 'classes'")
        return nw.from_dict(getattr(self, table), backend=backend).to_native()

    def __str__(self) -> str:
        parts = [self.model]
        for title, columns in self._tables():
            parts += [f"\n{title}", *_aligned(columns)]
        if self.certificate is not None:
            parts.append(f"\n{self.certificate}")
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<h4>{escape(self.model)}</h4>"]
        for title, columns in self._tables():
            rows = _cells(columns)
            head = "".join(f"<th>{escape(name)}</th>" for name in columns)
            body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
            parts.append(f"<p>{escape(title)}</p><table><tr>{head}</tr>{body}</table>")
        if self.certificate is not None:
            parts.append(f"<pre>{escape(str(self.certificate))}</pre>")
        return "".join(parts)

    def _tables(self) -> list[tuple[str, Columns]]:
        """The tables that have rows, with their titles."""
        errors = f", {self.level:.0%} intervals from {self.n_resamples} bootstrap resamples" if self.n_resamples else ""
        titled = [
            (f"Weights{errors}", self.coefficients),
            ("Influence: fall of pair accuracy when a feature is shuffled", self.influences),
            ("Score line", self.classes),
        ]
        return [
            (title + (f" (first {_SHOWN} of {n:,})" if (n := _height(columns)) > _SHOWN else ""), columns)
            for title, columns in titled
            if _height(columns)
        ]


def summarise(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    names: Any = None,
    n_resamples: int = 200,
    level: float = 0.95,
    random_state: int = 0,
    heard: Callable[[float], None] | None = None,
    **fit_params: Any,
) -> Summary:
    """Summarise a fitted estimator, or the one inside of a pipeline.

    With the training data, weights and thresholds get errors: copies of the model are fitted to bootstrap resamples (of
    whole queries if there are any, else of the rows within every class). Errors are the standard deviations of the
    refitted weights, intervals their percentiles. They tell how far the weights of *this regularised* model depend on
    the sample; regularisation pulls weights towards 0, so they are no tests of effects. Transformers of a pipeline stay
    as they are. Models without weights get the influence of every column of X instead.

    Parameters
    ----------
    estimator : fitted estimator with ``score_samples``, or a pipeline that ends in one
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), default=None
    y : array-like of shape (n_samples,), default=None
    names : sequence of str, default=None
        Names of the features; those of the data frame or the pipeline if None, else x0, x1, ...
    n_resamples : int, default=200
        How many; 0 leaves errors out.
    level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
    heard : callable, default=None
        Called with the share of the resamples that is done.
    **fit_params : ``sample_weight``, ``qid``, ``groups``, as in ``fit``

    Returns
    -------
    summary : Summary

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import FixedMarginClassifier
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> summary = FixedMarginClassifier().fit(X, y).summary(X, y, n_resamples=20)
    >>> summary.coefficients["feature"]
    ['x0', 'x1']
    >>> summary.to_frame("classes", backend="polars").shape
    (3, 7)
    """
    if (X is None) != (y is None):
        raise HullrankError("errors need both X and y of the training data; pass both, or neither")
    if not 0 < level < 1 or n_resamples < 0 or n_resamples == 1:
        raise HullrankError(f"level={level} must lie between 0 and 1, and n_resamples={n_resamples} be 0 or 2 and more")
    inside = unwrap(estimator)
    model = inside.model
    check_is_fitted(model)
    spread, influences = None, Columns()
    given = {key: value for key, value in fit_params.items() if value is not None}
    labels = feature_names(estimator, inside) if names is None else [str(name) for name in names]
    if X is not None and getattr(model, "coef_", None) is None:
        influences = _influences(estimator, labels, X, y, given)
    elif X is not None and n_resamples:
        taken = {key: value for key, value in given.items() if has_fit_parameter(model, key)}
        Z = inside.transform(X)
        spread = bootstrap(model, Z, y, n_resamples=n_resamples, seed=random_state, fit_params=taken, heard=heard)
    return Summary(
        model=type(model).__name__,
        coefficients=_coefficients(model, labels, spread, level),
        influences=influences,
        classes=_classes(model, spread),
        certificate=getattr(model, "certificate_", None),
        n_resamples=0 if spread is None else n_resamples - spread.n_failed,
        level=level,
    )


def feature_names(estimator: Any, inside: Unwrapped) -> list[str]:
    """The names of what the model inside sees: from the last transformer, the model itself, or x0, x1, ..."""
    model = inside.model
    width = int(model.n_features_in_)
    known = getattr(model, "feature_names_in_", None)
    if known is None and inside.transformers and hasattr(estimator, "steps"):
        with suppress(AttributeError, ValueError):
            known = estimator[:-1].get_feature_names_out()
    return [f"x{i}" for i in range(width)] if known is None or len(known) != width else [str(name) for name in known]


def _coefficients(model: Any, names: list[str], spread: Spread | None, level: float) -> Columns:
    coef = getattr(model, "coef_", None)
    if coef is None:
        return {}
    if len(names) != len(coef):
        raise HullrankError(f"there are {len(names)} names for {len(coef)} weights")
    largest = np.argsort(-np.abs(coef), kind="stable")
    columns: Columns = {"feature": [names[i] for i in largest], "weight": coef[largest].tolist()}
    if spread is not None and spread.coefs is not None:
        low, high = np.quantile(spread.coefs, [(1 - level) / 2, (1 + level) / 2], axis=0)
        columns["standard error"] = spread.coefs.std(axis=0, ddof=1)[largest].tolist()
        columns |= {"low": low[largest].tolist(), "high": high[largest].tolist()}
    return columns


def _influences(estimator: Any, names: list[str], X: Any, y: Any, given: dict[str, Any]) -> Columns:
    """Of the columns of X as given, most influential first; a precomputed kernel has none."""
    if getattr(unwrap(estimator).model, "kernel", None) == "precomputed":
        return {}
    within = {"qid": given["groups"]} if "groups" in given else {}  # pairs of different groups are not compared
    others = {name: values for name, values in given.items() if name != "groups"}
    fall, deviation = permutation_influence(estimator, X, y, **others, **within)
    known = getattr(X, "columns", None)
    columns = names if known is None else [str(name) for name in known]
    columns = columns if len(columns) == len(fall) else [f"x{i}" for i in range(len(fall))]
    most = np.argsort(-fall, kind="stable")
    return {
        "feature": [columns[i] for i in most],
        "influence": fall[most].tolist(),
        "deviation": deviation[most].tolist(),
    }


def _classes(model: Any, spread: Spread | None) -> Columns:
    """The place of every class, lowest first; margins are those between neighbours of a total order."""
    classes, intervals = getattr(model, "classes_", None), getattr(model, "intervals_", None)
    thresholds = getattr(model, "thresholds_", None)
    if classes is None or (intervals is None and thresholds is None):
        return {}
    columns: Columns = {"class": classes.tolist()}
    if intervals is not None:
        columns |= {"from": intervals[:, 0].tolist(), "to": intervals[:, 1].tolist()}
    if thresholds is None or len(thresholds) != len(classes) - 1:
        return columns
    columns["threshold above"] = [*thresholds.tolist(), None]
    if spread is not None and spread.thresholds is not None and spread.thresholds.shape[1] == len(thresholds):
        columns["threshold error"] = [*spread.thresholds.std(axis=0, ddof=1).tolist(), None]
    if intervals is not None:
        margins = intervals[1:, 0] - intervals[:-1, 1]
        columns["margin above"] = [*margins.tolist(), None]
        length = float(np.linalg.norm(getattr(model, "coef_", 0.0)))
        if length > 0:
            columns["distance above"] = [*(margins / length).tolist(), None]
    return columns


def _height(columns: Columns) -> int:
    return len(next(iter(columns.values()), []))


def _cells(columns: Columns) -> list[list[str]]:
    """The first rows as text: four digits of every number."""
    rows = list(zip(*columns.values(), strict=True))[:_SHOWN]
    return [
        ["" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in rows
    ]


def _aligned(columns: Columns) -> list[str]:
    """The lines of a table: words to the left, numbers to the right."""
    table = [list(columns), *_cells(columns)]
    widths = [max(len(row[j]) for row in table) for j in range(len(columns))]
    lines = []
    for row in table:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([first.strip().ljust(widths[0]), *others]).rstrip())
    return lines
