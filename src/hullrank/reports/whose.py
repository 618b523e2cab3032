"""Whose rows a table holds: those that a model was fitted to, or others. The certificate tells."""

from typing import Any

from hullrank.exact.direction import predicted
from hullrank.exceptions import HullrankError

_SAME = 1e-6  # share of the certificate's objective by which the recomputed one may differ


def holds_training_rows(model: Any, X: Any, y: Any, **given: Any) -> bool | None:
    """Whether a model's objective on these samples is the one of its certificate; None if it has no certificate.

    The rows of the fit in another order pass as well, but for kernel models. Weights, queries and groups (``given``)
    must be those of the fit.
    """
    if not (hasattr(model, "state") and hasattr(model, "candidate")):
        return None
    given = {name: value for name, value in given.items() if value is not None}
    claimed = model.certificate_
    try:
        statement = model.state(X, y, **given)
        point = model.candidate(statement)
        if statement.family == "exact":
            return abs(float(predicted(statement, point.coef) / statement.total) - claimed.value) <= _SAME
        objective = statement.objective(point)
    except (HullrankError, IndexError, ValueError):  # other classes, queries, features or fewer rows than the fit had
        return False
    return bool(abs(objective - claimed.primal) <= _SAME * max(abs(objective), abs(claimed.primal)))
