"""How good the probabilities of grades are on rows that were left out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hullrank.cli.data import coded


@dataclass
class Chances:
    """What was foretold in every fold, with what came true; grades by their places from the lowest."""

    foretold: list[Any] = field(default_factory=list)
    usual: list[Any] = field(default_factory=list)  # the shares of the grades among the training rows of the fold
    true: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)

    def hear(self, model: Any, P: Any, y_train: Any, train_weight: Any, y_test: Any, test_weight: Any) -> None:
        """Take note of one fold; its training rows must hold every grade."""
        grades = model.classes_.tolist()
        shares = np.bincount(coded(y_train, grades), weights=train_weight, minlength=len(grades))
        self.foretold.append(P)
        self.usual.append(np.broadcast_to(shares / shares.sum(), P.shape))
        self.true.append(coded(y_test, grades))
        self.weights.append(np.ones(len(y_test)) if test_weight is None else test_weight)

    def figures(self) -> dict[str, float] | None:
        """Log loss and ranked probability score, each beside that of foretelling the shares of the grades to all."""
        if not self.foretold:
            return None
        true, weights = np.concatenate(self.true), np.concatenate(self.weights)
        told = {"": np.concatenate(self.foretold), "_of_shares": np.concatenate(self.usual)}
        measures = {"log_loss": log_loss, "ranked_probability_score": ranked_probability_score}
        return {
            f"{name}{of}": float(np.average(measure(P, true), weights=weights))
            for name, measure in measures.items()
            for of, P in told.items()
        }


def log_loss(P: Any, true: Any) -> Any:
    """-log P(true grade) of every row."""
    return -np.log(np.maximum(P[np.arange(len(true)), true], np.finfo(float).tiny))


def ranked_probability_score(P: Any, true: Any) -> Any:
    """The mean over the cuts between grades of (P(grade below the cut) - whether it was)^2 (Epstein 1969)."""
    below = np.arange(P.shape[1] - 1) >= true[:, None]
    return np.mean((np.cumsum(P, axis=1)[:, :-1] - below) ** 2, axis=1)


def in_words(figures: dict[str, float]) -> str:
    """The figures as a sentence."""
    loss, usual = figures["log_loss"], figures["log_loss_of_shares"]
    score, usual_score = figures["ranked_probability_score"], figures["ranked_probability_score_of_shares"]
    return (
        f"Probabilities on the same rows: log loss {loss:.4f} (the shares of the grades: {usual:.4f}), "
        f"ranked probability score {score:.4f} ({usual_score:.4f}); lower is better"
    )
