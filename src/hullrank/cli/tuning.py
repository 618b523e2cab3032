"""``--tune``: C, and the width of a kernel, by cross-validation inside the rows that a model learns from."""

from typing import Any

import numpy as np

import hullrank
from hullrank.cli.folds import Task
from hullrank.cli.methods import METHODS, build, fit_parameters, prepared, takes
from hullrank.exceptions import HullrankError

TUNED = ("ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker")
_WIDTHS = 0.1, 0.3, 1.0, 3.0  # gammas to try, in units of gamma="scale"
_GAP = 0.03  # of pair accuracy between training rows and rows left out, from which another C may well help


def is_tunable(method: str) -> bool:
    """Whether there is a cross-validated estimator for the method."""
    return METHODS[method].estimator in TUNED


def what_is_tuned() -> str:
    """What --tune does, for whom it leaves alone."""
    return f"--tune chooses the C of {', '.join(name for name in METHODS if is_tunable(name))}"


def check_tunable(method: str, parameters: dict[str, Any]) -> None:
    """Refuse to tune what has no cross-validated estimator, or was set."""
    if not is_tunable(method):
        own = next(
            (f", and set its {name} by --set {name}=..." for name in ("fraction", "C") if takes(method, name)), ""
        )
        raise HullrankError(
            f"method {method} is not tuned: {what_is_tuned()}; use one of these, or leave out --tune{own}"
        )
    if "C" in parameters:
        raise HullrankError("--set C=... and --tune both choose C; leave one out")


def tuned(task: Task) -> dict[str, Any]:
    """The parameters of a task with the C (and gamma) of the best pair accuracy in five folds of its rows."""
    pipeline = build(task.method, task.parameters, sparse=task.data.sparse, forms=task.forms)
    Z, model = prepared(pipeline, task.data.X), pipeline[-1]
    search = getattr(hullrank, f"{METHODS[task.method].estimator}CV")
    scoring = "wmw" if hasattr(model, "decision_function") else None  # rankers are scored by pair accuracy themselves
    found = search(gammas=_gammas(model, Z, task.parameters), estimator=model, scoring=scoring)
    found.fit(Z, task.y, groups=task.data.qid, **fit_parameters(model, task.data))
    return {**task.parameters, **found.best_params_}


def _gammas(model: Any, Z: Any, parameters: dict[str, Any]) -> list[float] | None:
    """Widths around gamma="scale", for kernels that have one which was not set."""
    if model.kernel not in ("rbf", "laplacian", "poly", "sigmoid") or "gamma" in parameters:
        return None
    from hullrank.problem.kernels import resolve_gamma

    return (resolve_gamma("scale", Z, np.ones(Z.shape[0])) * np.array(_WIDTHS)).tolist()


def words(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What was chosen, in one line."""
    chosen = ", ".join(f"{name}={value:.3g}" for name, value in after.items() if before.get(name) != value)
    return f"Chosen by cross-validation: {chosen}"


def advice(task: Task, training: float, held_out: float) -> str | None:
    """That tuning may help: C is at its default, and rows left out are ranked much worse than training rows."""
    if task.tune or not is_tunable(task.method) or "C" in task.parameters or training - held_out < _GAP:
        return None
    return f"Training rows are ranked better by {training - held_out:.2f}; --tune may find a C that narrows this"
