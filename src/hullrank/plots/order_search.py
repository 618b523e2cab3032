"""The candidates of a search for the order of classes, best first, with their standard errors."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, INK, LOWERS, axes_or_new, plain, short

Floats = NDArray[np.float64]


class OrderSearchDisplay:
    """Orders, or ways to state one, with their mean pair accuracy over the folds, best on top.

    Bars are one standard error long on both sides; a ring marks the candidate that was chosen. Of a sought order the
    candidates that cannot be told from the best one are red.

    Parameters
    ----------
    names : list of str
    folds : ndarray of shape (n_candidates, n_folds)
        Pair accuracies.
    chosen : int, or None
        Place of the chosen candidate.
    plausible : ndarray of bool of shape (n_candidates,), default=None
        Which of them cannot be told from the best.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from hullrank import OrderGraphSearchCV
    >>> from hullrank.plots import OrderSearchDisplay
    >>> search = OrderGraphSearchCV().fit(*load_wine(return_X_y=True))
    >>> OrderSearchDisplay.from_estimator(search).names[0]
    '0 < 1 < 2'
    """

    def __init__(
        self, *, names: list[str], folds: Floats, chosen: int | None, plausible: NDArray[np.bool_] | None = None
    ) -> None:
        self.names = names
        self.folds = folds
        self.chosen = chosen
        self.plausible = plausible

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 12, ax: Any = None) -> Self:
        """Draw the best candidates of a fitted `OrderGraphSearchCV`; the chosen one is always among them."""
        results = getattr(estimator, "cv_results_", None)
        if results is None or "name" not in results:
            raise HullrankError(f"{type(estimator).__name__} is no search for an order, or not fitted")
        kept = np.argsort(results["rank_test_score"], kind="stable")[:most]
        if estimator.best_index_ not in kept:
            kept[-1] = estimator.best_index_
        folds = np.column_stack([results[name] for name in results if name.startswith("split")])
        plausible = results["plausible"][kept] if "plausible" in results else None
        chosen = int(np.flatnonzero(kept == estimator.best_index_)[0])
        names = [str(name) for name in results["name"][kept]]
        return cls(names=names, folds=folds[kept], chosen=chosen, plausible=plausible).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        n = len(self.names)
        self.figure_, self.ax_ = axes_or_new(ax, 7.5, 1.0 + 0.32 * n)
        means, size = self.folds.mean(axis=1), self.folds.shape[1]
        errors = self.folds.std(axis=1, ddof=1) / size**0.5 if size > 1 else np.zeros(n)
        for k in range(n):
            colour = INK if self.plausible is None else LOWERS if self.plausible[k] else FAINT
            self.ax_.errorbar(means[k], -k, xerr=errors[k], color=colour, marker="o", ms=5, capsize=2, lw=1.5)
        if self.chosen is not None:
            self.ax_.plot(means[self.chosen], -self.chosen, marker="o", ms=12, mfc="none", mec=INK, ls="")
        self.ax_.set_yticks(-np.arange(n), [short(name, 44) for name in self.names])
        self.ax_.set_ylim(-n + 0.4, 0.6)
        self.ax_.set_xlabel("pair accuracy on rows left out, with standard errors")
        plain(self.ax_)
        return self
