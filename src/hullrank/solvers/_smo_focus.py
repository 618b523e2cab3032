"""Late shrinking: going on with the samples that can still move, in the memory of the kernel rows.

Most samples soon stand at a bound, with a residual far from where it would make them leave. The others form a problem
of their own: the multipliers that rest send a constant flow into the thresholds, and add a constant to the scores. The
gap of the whole is that of the part as long as those that rest are right to do so, which is checked in the end.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.kernels import Gram
from hullrank.problem.layout import START, narrow
from hullrank.solvers._smo_state import SmoState, make_state

Ints = NDArray[np.int64]
_MARGIN = 1.0  # in violations: how far from leaving its bound a sample rests
_LEAST = 1000  # samples, of which it pays to let some rest
_FEW = 0.75  # of the samples: it pays to go on with so many


class Focus:
    """A state over some of the samples of a whole; that of ``gram`` over all of them to begin with."""

    def __init__(self, whole: SmoState, gram: Gram) -> None:
        self.whole, self.whole_gram = whole, gram
        self.widen()

    @property
    def narrowed(self) -> bool:
        """Whether some samples rest."""
        return self.state is not self.whole

    def movable(self) -> Ints | None:
        """The samples of the present state that can still move, if they are few."""
        state = self.state
        if self.whole.problem.homogeneous or len(state.s) < _LEAST:
            return None
        eager = state.eagerness()
        moving = eager > -_MARGIN * state.violation
        moving[np.minimum(state.layout.table[:, START], len(eager) - 1)] = True  # so that no class is empty
        return np.flatnonzero(moving) if np.count_nonzero(moving) <= _FEW * len(moving) else None

    def narrow(self, kept: Ints) -> None:
        """Go on with the samples ``kept`` of the present state."""
        state, whole = self.state, self.whole
        self.put_back()
        samples = self.samples[kept]
        gram = self.whole_gram.take(samples)
        layout, rows = narrow(whole.problem, whole.layout, samples)
        cache = state.cache.narrowed(gram, kept)
        part = make_state(whole.problem, layout, whole.per_sample[0, samples], cache)
        part.v[:], part.s[:], part.order[:], part.io[:] = whole.v[rows], state.s[kept], whole.order, state.io
        outside = whole.problem.flow(whole.totals()) - whole.problem.flow(part.totals())
        part.problem = replace(whole.problem, linear=whole.problem.linear + outside)
        part.refresh()
        self.state, self.samples, self.rows, self.gram = part, samples, rows, gram

    def put_back(self) -> None:
        """Bring the multipliers of the whole up to date."""
        if self.narrowed:
            self.whole.v[self.rows] = self.state.v
            self.whole.order[:] = self.state.order
            self.whole.io[:] = self.state.io

    def rescore(self) -> None:
        """Scores anew from float64 kernel values."""
        self.put_back()
        self.state.s[:] = self.whole_gram.times(self.whole.beta, self.samples)

    def widen(self) -> None:
        """Go on with all samples; their scores are left to the caller."""
        if hasattr(self, "state"):
            self.put_back()
            self.whole.refresh()
            self.whole.cache.clear()
        self.state, self.gram = self.whole, self.whole_gram
        self.samples = np.arange(len(self.whole.s))
        self.rows = np.arange(len(self.whole.v))
