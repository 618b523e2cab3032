"""Anytime search for a good direction: solve plane after plane through the current one exactly."""

import time

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.clock import Clock
from hullrank.exact.plane_sweep import sweep_plane

Floats = NDArray[np.float64]

_ELITE = 8


class PlaneSearch:
    """Repeated sweeps of planes through the current direction, with restarts near the best ends found so far.

    The second direction of a plane is an axis, random, the gradient of a smoothed AUC, or leads to another good end.
    A start ends when 10 d planes in a row gave nothing.
    """

    def __init__(self, arrangement: Arrangement, start: Floats, rng: np.random.Generator) -> None:
        self.arrangement = arrangement
        self.rng = rng
        self.elite: list[tuple[float, Floats]] = []
        self.value = -np.inf
        self.w = start
        self.planes = 0
        self.seconds = 0.0
        self.begin(start)

    def begin(self, w: Floats) -> None:
        """Go on from w."""
        self._current = w / np.linalg.norm(w)
        self._value = self.arrangement.value(self._current)
        self._failures = 0
        self._keep()

    def run_within(self, planes: int, clock: Clock) -> None:
        """Sweep so many planes, or as many as the clock allows."""
        for _ in range(planes):
            if not clock.allows(self.seconds):
                break
            begin = time.perf_counter()
            self.run(1)
            self.seconds = time.perf_counter() - begin
            clock.cells += 1

    def run(self, planes: int) -> None:
        """Sweep so many planes."""
        for _ in range(planes):
            if self._failures > 10 * len(self.w):
                self._restart()
            self._sweep()

    def _sweep(self) -> None:
        w = self._current
        A = self.arrangement.D @ w
        b = self._second(A)
        b = b - (b @ w) * w
        length = np.linalg.norm(b)
        self.planes += 1
        if length < 1e-12:
            self._failures += 1
            return
        value, cosine, sine = sweep_plane(self.arrangement, A, self.arrangement.D @ (b / length))
        self._failures = 0 if value > self._value else self._failures + 1
        if value >= self._value:
            w = cosine * w + sine * b / length
            self._current, self._value = w / np.linalg.norm(w), value
            self._keep()

    def _keep(self) -> None:
        if self._value > self.value:
            self.value, self.w = self._value, self._current

    def _second(self, A: Floats) -> Floats:
        d = len(self.w)
        kind = self.rng.integers(4)
        if kind == 0:
            return np.eye(d)[self.rng.integers(d)]
        if kind == 2:
            slope = 1.0 / np.cosh(np.clip(A * 10.0 ** self.rng.uniform(0, 2), -30, 30)) ** 2
            return self.arrangement.D.T @ (self.arrangement.weight * slope)
        if kind == 3 and self.elite:
            return self.elite[self.rng.integers(len(self.elite))][1] - self._current
        return self.rng.normal(size=d)

    def _restart(self) -> None:
        if all(self._value != value for value, _ in self.elite):
            ends = [*self.elite, (self._value, self._current)]
            self.elite = sorted(ends, key=lambda end: -end[0])[:_ELITE]
        d = len(self.w)
        if self.rng.random() < 0.7:
            near = self.elite[self.rng.integers(len(self.elite))][1]
            self.begin(near + self.rng.normal(size=d) * 10.0 ** self.rng.uniform(-2, 0) / np.sqrt(d))
        else:
            self.begin(self.rng.normal(size=d))
