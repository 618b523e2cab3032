"""How objective and lower bound close in on each other."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from hullrank._pipelines import unwrap
from hullrank.exceptions import ConvergenceWarning, HullrankError
from hullrank.plots._style import FAINT, LOWERS, RAISES, axes_or_new, plain

Floats = NDArray[np.float64]


class ConvergenceDisplay:
    """The relative gap between objective and lower bound against iterations (or seconds).

    Parameters
    ----------
    steps : ndarray of shape (n_steps,)
    objective, bound : ndarray of shape (n_steps,), or None where only the gaps are known
    unit : str, default="iterations"
    tol : float, default=None
        Drawn as a line.
    gaps : ndarray of shape (n_steps,), default=None
        Relative gaps; if None, those between objective and bound.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    gaps_ : ndarray of shape (n_steps,)

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import ConvergenceDisplay
    >>> display = ConvergenceDisplay.from_predictions([2.0, 1.25, 1.0], [0.0, 0.75, 1.0], tol=1e-6)
    >>> display.gaps_.tolist()
    [1.0, 0.4, 0.0]
    """

    def __init__(
        self,
        *,
        steps: Floats,
        objective: Floats | None = None,
        bound: Floats | None = None,
        unit: str = "iterations",
        tol: float | None = None,
        gaps: Floats | None = None,
    ) -> None:
        self.steps, self.objective, self.bound, self.gaps = steps, objective, bound, gaps
        self.unit = unit
        self.tol = tol

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None, **fit_params: Any) -> Self:
        """Fit copies of the estimator with 1, 2, 3, ... iterations until it converges, and draw their certificates.

        The transformers of a pipeline are used as fitted; only its last step is fitted again. Without data, the gaps
        are drawn that the solver of a fitted estimator reported on its way, and at the end that of its certificate.
        """
        inside = unwrap(estimator)
        model = inside.model
        if X is None:
            return cls._from_certificate(model, ax)
        if "max_iter" not in model.get_params():
            raise HullrankError(f"{type(model).__name__} has no max_iter, so its steps cannot be told apart")
        rows, certificates = inside.transform(X), []
        for n in range(1, 101):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted = clone(model).set_params(max_iter=n).fit(rows, y, **fit_params)
            certificates.append(fitted.certificate_)
            if fitted.certificate_.relative_gap <= model.tol:
                break
        return cls.from_predictions(
            [c.primal for c in certificates], [c.dual for c in certificates], tol=model.tol, ax=ax
        )

    @classmethod
    def _from_certificate(cls, model: Any, ax: Any) -> Self:
        certificate = getattr(model, "certificate_", None)
        if certificate is None or not hasattr(certificate, "dual"):
            raise HullrankError(
                f"{type(model).__name__} carries no objective with a lower bound (it is not fitted, or a baseline); "
                "pass X and y to see its steps"
            )
        gaps = np.array([*certificate.gaps, certificate.relative_gap])
        return cls(steps=np.arange(1.0, len(gaps) + 1), gaps=gaps, unit="reports", tol=model.tol).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        objective: ArrayLike,
        bound: ArrayLike,
        *,
        steps: ArrayLike | None = None,
        unit: str = "iterations",
        tol: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw given objectives and lower bounds, one for every step."""
        P, D = np.asarray(objective, dtype=np.float64), np.asarray(bound, dtype=np.float64)
        n = np.arange(1, len(P) + 1) if steps is None else np.asarray(steps)
        if not P.shape == D.shape == n.shape or P.ndim != 1:
            raise HullrankError(f"objective, bound and steps have shapes {P.shape}, {D.shape} and {n.shape}")
        return cls(steps=n.astype(np.float64), objective=P, bound=D, unit=unit, tol=tol).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the picture on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes_or_new(ax, 6.0, 3.6)
        self.gaps_ = self._between() if self.gaps is None else self.gaps
        drawn = np.where(np.isfinite(self.gaps_), np.maximum(self.gaps_, 1e-16), np.nan)
        self.ax_.semilogy(self.steps, drawn, "o-", color=RAISES, lw=1.6, ms=4)
        if self.tol is not None:
            self.ax_.axhline(self.tol, color=LOWERS, lw=1, ls=(0, (4, 3)))
            self.ax_.annotate("tol", (1, self.tol), (-4, 4), ("axes fraction", "data"), "offset points",
                              color=LOWERS, ha="right")  # fmt: skip
        self.ax_.grid(axis="y", color=FAINT, alpha=0.25)
        self.ax_.set(xlabel=self.unit, ylabel="relative gap")
        if self.unit != "seconds":
            self.ax_.xaxis.get_major_locator().set_params(integer=True)
        plain(self.ax_)
        return self

    def _between(self) -> Floats:
        """The gaps between objective and bound."""
        P, D = np.asarray(self.objective), np.asarray(self.bound)
        return (P - D) / np.maximum(np.maximum(np.abs(P), np.abs(D)), 1e-300)
