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
    """``state`` over the ``samples`` that can still move, all of them to begin with, and where its ``rows`` stand."""

    def __init__(self, whole: SmoState, gram: Gram) -> None:
        self._whole, self._whole_gram = whole, gram
        self._set_whole()

    def _set_whole(self) -> None:
        whole = self._whole
        self._set(whole, self._whole_gram, np.arange(len(whole.s)), np.arange(len(whole.v)))

    def _set(self, state: SmoState, gram: Gram, samples: Ints, rows: Ints) -> None:
        self.state, self.gram, self.samples, self.rows = state, gram, samples, rows

    @property
    def narrowed(self) -> bool:
        """Whether some samples rest."""
        return self.state is not self._whole

    def movable(self) -> Ints | None:
        """The samples of the present state that can still move, if they are few."""
        state = self.state
        if self._whole.problem.homogeneous or len(state.s) < _LEAST:
            return None
        moving = state.eagerness() > -_MARGIN * state.violation
        moving[np.minimum(state.layout.table[:, START], len(moving) - 1)] = True  # so that no class is empty
        return np.flatnonzero(moving) if np.count_nonzero(moving) <= _FEW * len(moving) else None

    def narrow(self, kept: Ints) -> None:
        """Go on with the samples ``kept`` of the present state."""
        state, whole = self.state, self._whole
        self._put_back()
        samples = self.samples[kept]
        gram = self._whole_gram.take(samples)
        layout, rows = narrow(whole.problem, whole.layout, samples)
        part = make_state(whole.problem, layout, whole.per_sample[0, samples], state.cache.narrowed(gram, kept))
        part.v[:], part.s[:], part.order[:], part.io[:] = whole.v[rows], state.s[kept], whole.order, state.io
        outside = whole.problem.flow(whole.totals() - part.totals())
        part.problem = replace(whole.problem, linear=whole.problem.linear + outside)
        part.refresh()
        self._set(part, gram, samples, rows)

    def widen(self) -> None:
        """Go on with all samples; their scores are left to the caller."""
        if self.narrowed:
            self._put_back()
            self._whole.refresh()
            self._whole.cache.clear()
            self._set_whole()

    def rescore(self) -> None:
        """Scores anew from float64 kernel values."""
        self._put_back()
        self.state.s[:] = self._whole_gram.times(self._whole.beta, self.samples if self.narrowed else None)

    def _put_back(self) -> None:
        """Bring the multipliers of the whole up to date."""
        whole, state = self._whole, self.state
        if self.narrowed:
            whole.v[self.rows], whole.order[:], whole.io[:] = state.v, state.order, state.io
