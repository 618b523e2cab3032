"""Which weights a score may have: signs, small integers, few features."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class WeightRule:
    """The weights that a score may have.

    ``signs`` holds 1 (not negative), -1 (not positive) or 0 per column, and is empty if no sign is asked for.
    ``largest`` asks for whole numbers of at most this size, ``features`` for at most so many that are not 0; None asks
    for nothing.
    """

    signs: tuple[int, ...] = ()
    largest: int | None = None
    features: int | None = None

    @property
    def n_signs(self) -> int:
        """Number of columns with a required sign."""
        return sum(sign != 0 for sign in self.signs)

    def signs_of(self, d: int) -> NDArray[np.int64]:
        """Signs of d columns."""
        return np.array(self.signs or [0] * d, dtype=np.int64)

    def allows(self, w: Floats) -> bool:
        """Whether weights w of the raw columns keep the rule."""
        wrong = (self.signs_of(len(w)) * w < 0).any()
        many = self.features is not None and np.count_nonzero(w) > self.features
        coarse = self.largest is not None and ((w != np.rint(w)).any() or np.abs(w).max() > self.largest)
        return not (wrong or many or coarse)

    def columns(self, chosen: Indices) -> "WeightRule":
        """The rule for some of the columns, all of which may be used."""
        signs = tuple(self.signs[j] for j in chosen) if self.signs else ()
        return replace(self, signs=signs, features=None)
