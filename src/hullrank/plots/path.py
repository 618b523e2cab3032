"""How the score of a cross-validated search depends on C, for every gamma and loss."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, axes_or_new, class_colours, ink, plain, short

Floats = NDArray[np.float64]


class PathDisplay:
    """Mean scores over the folds against one parameter, a line for every setting of the others.

    Bands are one standard error wide on both sides; a ring marks the point that was chosen. Crosses are points that
    were dropped because they could not win any more, at the mean of the folds in which they were rated.

    Parameters
    ----------
    paths : dict of str to ndarray of shape (n_values, 3)
        For every setting of the other parameters: values in ascending order, mean scores, standard errors.
    chosen : tuple of float, or None
        Value and mean score of the chosen point.
    parameter : str
        What the horizontal axis shows.
    stopped : dict of str to ndarray of shape (n_values, 2), or None
        The same of points without a score in every fold: values, and means of the folds that have one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of the lines, one for every path

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank import FixedMarginClassifierCV
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.plots import PathDisplay
    >>> X, y = make_ordinal(100, 3, n_classes=3, random_state=0)
    >>> display = PathDisplay.from_estimator(FixedMarginClassifierCV([0.1, 1.0, 10.0], cv=3).fit(X, y))
    >>> len(display.lines_)
    1
    """

    def __init__(
        self,
        *,
        paths: dict[str, Floats],
        chosen: tuple[float, float] | None,
        parameter: str = "C",
        stopped: dict[str, Floats] | None = None,
    ) -> None:
        self.paths = paths
        self.chosen = chosen
        self.parameter = parameter
        self.stopped = stopped or {}

    @classmethod
    def from_estimator(cls, estimator: Any, *, parameter: str = "C", ax: Any = None) -> Self:
        """Draw the paths of a fitted search: one of hullrank's estimators with CV, or a GridSearchCV."""
        results = getattr(estimator, "cv_results_", None)
        if results is None:
            raise HullrankError(f"{type(estimator).__name__} has no cv_results_: it is no search, or not fitted")
        point = results["params"][estimator.best_index_]
        paths, stopped = cross_validated_paths(results, parameter)
        mean = float(results["mean_test_score"][estimator.best_index_])
        chosen = float(point[parameter]), mean
        return cls(paths=paths, chosen=chosen, parameter=parameter, stopped=stopped).plot(ax=ax)

    @classmethod
    def from_predictions(cls, results: dict[str, Any], *, parameter: str = "C", ax: Any = None) -> Self:
        """Draw the paths of a table such as ``cv_results_``; no point is marked as chosen."""
        paths, stopped = cross_validated_paths(results, parameter)
        return cls(paths=paths, chosen=None, parameter=parameter, stopped=stopped).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes_or_new(ax)
        self.lines_ = []
        for colour, (name, path) in zip(class_colours(len(self.paths), self.ax_), self.paths.items(), strict=True):
            values, means, errors = path.T
            self.ax_.fill_between(values, means - errors, means + errors, color=colour, alpha=0.12, lw=0)
            self.lines_ += self.ax_.plot(values, means, color=colour, marker=".", label=short(name, 40))
            if name in self.stopped:
                self.ax_.plot(*self.stopped[name].T, color=colour, marker="x", ms=5, alpha=0.6, ls="")
        if self.chosen is not None:
            self.ax_.axvline(self.chosen[0], color=FAINT, lw=1, ls=":")
            self.ax_.plot(*self.chosen, marker="o", ms=10, mfc="none", mec=ink(self.ax_), ls="")
        if all((path[:, 0] > 0).all() for path in self.paths.values()):
            self.ax_.set_xscale("log")
        if len(self.paths) > 1:
            beside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if len(self.paths) > 6 else {}
            self.ax_.legend(frameon=False, fontsize="small", **beside)
        self.ax_.set(xlabel=self.parameter, ylabel="mean score over the folds")
        plain(self.ax_)
        return self


def cross_validated_paths(results: dict[str, Any], parameter: str) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """For every setting of the other parameters: values of the parameter, mean scores, standard errors of the means.

    Second, for points that have a score in some folds only: values, and means of these folds.
    """
    if not results["params"] or parameter not in results["params"][0]:
        known = ", ".join(results["params"][0]) if results["params"] else "none"
        raise HullrankError(f"the grid has no parameter {parameter!r}; it has {known}")
    folds = np.column_stack([results[name] for name in results if name.startswith("split") and "_test_" in name])
    n = folds.shape[1]
    errors = folds.std(axis=1, ddof=1) / n**0.5 if n > 1 else np.zeros(len(folds))
    found: dict[str, list[tuple[float, float, float]]] = {}
    stopped: dict[str, list[tuple[float, float]]] = {}
    for point, scores, error in zip(results["params"], folds, errors, strict=True):
        other = ", ".join(f"{name}={value}" for name, value in point.items() if name != parameter)
        try:
            place = float(point[parameter])
        except (TypeError, ValueError) as problem:
            raise HullrankError(
                f"{parameter}={point[parameter]!r} is no number, so it has no place on a line"
            ) from problem
        path, known_scores = found.setdefault(other, []), scores[np.isfinite(scores)]
        if len(known_scores) == n:
            path.append((place, float(scores.mean()), float(error)))
        elif len(known_scores):
            stopped.setdefault(other, []).append((place, float(known_scores.mean())))
    paths = {name: np.array(sorted(rows)).reshape(-1, 3) for name, rows in found.items()}
    return paths, {name: np.array(sorted(rows)) for name, rows in stopped.items()}
