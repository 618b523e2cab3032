"""Shrinking: going on with the samples that can still move (Joachims 1999), in the memory of the row cache.

Most samples soon stand at a bound, with a residual that is far from making them leave it. The others, the *active*
samples, form a problem of their own: the multipliers of the shrunk samples send a constant flow into the thresholds and
add a constant to the scores. The gap of the active problem is that of the whole as long as the shrunk samples are right
to stay where they are, which is verified in the end.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.gram import Gram
from hullrank.problem.layout import START, restrict_layout
from hullrank.solvers._smo_settings import SmoSettings
from hullrank.solvers._smo_state import SmoState

Ints = NDArray[np.int64]


class ActiveSet:
    """``state`` and ``gram`` of the active ``samples``, and the numbers of their ``rows`` in the ``whole`` problem."""

    def __init__(self, whole: SmoState, gram: Gram, settings: SmoSettings) -> None:
        self.whole, self._whole_gram, self.settings = whole, gram, settings
        self._activate_all()

    def _activate_all(self) -> None:
        whole = self.whole
        self.state, self.gram = whole, self._whole_gram
        self.samples, self.rows = np.arange(len(whole.scores)), np.arange(len(whole.v))

    @property
    def is_shrunk(self) -> bool:
        """Whether some samples are not active."""
        return self.state is not self.whole

    def shrink(self) -> bool:
        """Go on with the active samples that can still move, if this leaves out enough of them; whether it did."""
        state, use = self.state, self.settings
        if self.whole.problem.homogeneous or len(state.scores) < use.shrink_least:
            return False
        moving = state.violations() > -use.shrink_margin * state.violation
        moving[np.minimum(state.layout.table[:, START], len(moving) - 1)] = True  # no class may become empty
        if np.count_nonzero(moving) > use.shrink_share * len(moving):
            return False
        self._restrict(np.flatnonzero(moving))
        return True

    def _restrict(self, kept: Ints) -> None:
        """Go on with the samples ``kept`` of the present state."""
        state, whole = self.state, self.whole
        self._write_back()
        self.samples = self.samples[kept]
        self.gram = self._whole_gram.take(self.samples)
        layout, self.rows = restrict_layout(whole.problem, whole.layout, self.samples)
        state.cache.restrict(self.gram, kept)
        part = SmoState(whole.problem, layout, whole.diagonal[self.samples], state.cache)
        part.v[:], part.scores[:] = whole.v[self.rows], state.scores[kept]
        part.order[:], part.counts[:], part.numbers[:] = whole.order, state.counts, state.numbers
        constant = whole.problem.flow(whole.group_sums() - part.group_sums())
        part.problem = replace(whole.problem, linear=whole.problem.linear + constant)
        part.refresh()
        self.state = part

    def unshrink(self) -> None:
        """Go on with all samples; ``recompute_scores`` must follow."""
        if self.is_shrunk:
            self._write_back()
            self.whole.cache.reset(self._whole_gram)
            self._activate_all()
            self.whole.refresh()

    def recompute_scores(self) -> None:
        """Replace the scores of the active samples by scores from float64 kernel values."""
        self._write_back()
        self.state.put_scores(self._whole_gram.times(self.whole.beta, self.samples if self.is_shrunk else None))

    def _write_back(self) -> None:
        """Copy the multipliers of the active rows to the whole problem."""
        whole, state = self.whole, self.state
        if self.is_shrunk:
            whole.v[self.rows] = state.v
            whole.order[:], whole.counts[:], whole.numbers[:] = state.order, state.counts, state.numbers
