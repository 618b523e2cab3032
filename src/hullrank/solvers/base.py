"""What a solver takes and gives, and the registry that tests and estimators walk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import Certificate, Status

__all__ = ["Certificate", "Solution", "Solver", "Status"]


@dataclass(frozen=True)
class Solution:
    """The answer of a solver: weights (or kernel coefficients), thresholds, multipliers, and the certificate.

    ``scores`` are those of the training samples, in the order of the data.
    """

    coef: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    scores: NDArray[np.float64]
    certificate: Certificate


@dataclass(frozen=True)
class Solver:
    """A named way to solve a family of problems; ``supports`` gives None, or the reason why not."""

    name: str
    supports: Callable[..., str | None]
    solve: Callable[..., Any]
