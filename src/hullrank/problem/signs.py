"""Weights of required signs: what they allow, and what they leave of a dual penalty.

With signs sigma_j in {1, -1, 0} the weights must satisfy sigma_j w_j >= 0. A penalty that grows with every |w_j| then
has its old conjugate at the nearest allowed point of the pull u = X'(sign alpha): what pulls a weight to the forbidden
side costs the dual nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signs:
    """One of 1 (not negative), -1 (not positive) and 0 (any sign) per column."""

    values: Floats

    def allow(self, w: Floats) -> bool:
        """Whether the weights have the required signs."""
        return not bool((self.values * w < 0).any())

    def nearest(self, w: Floats) -> Floats:
        """The nearest allowed weights: those of a wrong sign become 0."""
        return np.where(self.values * w < 0, 0.0, w)
