"""An estimator out of what is wrapped around it: pipelines, searches and calibrators."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unwrapped:
    """The estimator inside, the transformers before it in the order of use, and its calibrators, outermost first."""

    model: Any
    transformers: list[Any]
    calibrators: list[Any]

    def transform(self, X: Any) -> Any:
        """The rows as the estimator inside sees them."""
        for step in self.transformers:
            X = step.transform(X)
        return X


def unwrap(estimator: Any, *, calibrators: bool = True) -> Unwrapped:
    """Take off all wrappers of a fitted estimator; without ``calibrators``, the outermost of these is the model."""
    transformers, around = [], []
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            transformers += [step for _, step in estimator.steps[:-1] if step is not None and step != "passthrough"]
            estimator = estimator.steps[-1][1]
        elif calibrators and hasattr(estimator, "estimator_"):
            around.append(estimator)
            estimator = estimator.estimator_
        else:
            return Unwrapped(estimator, transformers, around)
