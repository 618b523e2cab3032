"""Anytime search for a good direction: solve plane after plane through the current one exactly."""

import time

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import whitening
from hullrank.exact.plane_sweep import sweep_plane

Floats = NDArray[np.float64]

_ELITE = 8


class PlaneSearch:
    """Repeated sweeps of planes through the current direction, with restarts near the best ends found so far.

    The second direction of a plane is an axis, random, the gradient of a smoothed AUC, or leads to another good end.
    A start ends when 10 d planes in a row gave nothing. The search runs in coordinates in which the pairs have the same
    spread in every direction: ``white`` is the arrangement there, ``best`` its best direction, and ``back`` the map to
    the coordinates of the arrangement as given.
    """

    def __init__(
        self, arrangement: Arrangement, basis: Floats, rng: np.random.Generator, start: Floats | None = None
    ) -> None:
        self.back = whitening(arrangement.D, basis)
        self.white = arrangement.transformed(self.back)
        self._into = np.linalg.pinv(self.back)
        self._rng = rng
        self._elite: list[tuple[float, Floats]] = []
        self._seconds = 0.0
        self.value = -np.inf
        first = self.white.D.T @ self.white.weight if start is None else self._into @ start
        self.best = first if first.any() else np.ones(len(first))
        self._go_on_from(self.best)

    @property
    def w(self) -> Floats:
        """The best direction found, in the coordinates of the arrangement."""
        return self.back @ self.best

    def begin(self, w: Floats) -> None:
        """Go on from w, in the coordinates of the arrangement."""
        self._go_on_from(self._into @ w)

    def _go_on_from(self, white: Floats) -> None:
        self._current = white / np.linalg.norm(white)
        self._value = self.white.value(self._current)
        self._failures = 0
        self._keep()

    def run_within(self, planes: int, clock: Clock) -> None:
        """Sweep so many planes, or as many as the clock allows."""
        for _ in range(planes):
            if not clock.allows(self._seconds):
                break
            begin = time.perf_counter()
            self.run(1)
            self._seconds = time.perf_counter() - begin
            clock.cells += 1

    def run(self, planes: int) -> None:
        """Sweep so many planes."""
        for _ in range(planes):
            if self._failures > 10 * len(self.best):
                self._restart()
            self._sweep()

    def _sweep(self) -> None:
        w = self._current
        A = self.white.D @ w
        b = self._second(A)
        b = b - (b @ w) * w
        length = np.linalg.norm(b)
        if length < 1e-12:
            self._failures += 1
            return
        value, cosine, sine = sweep_plane(self.white, A, self.white.D @ (b / length))
        self._failures = 0 if value > self._value else self._failures + 1
        if value >= self._value:
            w = cosine * w + sine * b / length
            self._current, self._value = w / np.linalg.norm(w), value
            self._keep()

    def _keep(self) -> None:
        if self._value > self.value:
            self.value, self.best = self._value, self._current

    def _second(self, A: Floats) -> Floats:
        d = len(self.best)
        kind = self._rng.integers(4)
        if kind == 0:
            return np.eye(d)[self._rng.integers(d)]
        if kind == 2:
            slope = 1.0 / np.cosh(np.clip(A * 10.0 ** self._rng.uniform(0, 2), -30, 30)) ** 2
            return self.white.D.T @ (self.white.weight * slope)
        if kind == 3 and self._elite:
            return self._elite[self._rng.integers(len(self._elite))][1] - self._current
        return self._rng.normal(size=d)

    def _restart(self) -> None:
        if all(self._value != value for value, _ in self._elite):
            ends = [*self._elite, (self._value, self._current)]
            self._elite = sorted(ends, key=lambda end: -end[0])[:_ELITE]
        d = len(self.best)
        if self._rng.random() < 0.7:
            near = self._elite[self._rng.integers(len(self._elite))][1]
            self._go_on_from(near + self._rng.normal(size=d) * 10.0 ** self._rng.uniform(-2, 0) / np.sqrt(d))
        else:
            self._go_on_from(self._rng.normal(size=d))
