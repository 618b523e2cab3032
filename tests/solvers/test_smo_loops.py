"""The vectorised passes of the compiled loop against NumPy, at lengths around that of a chunk."""

import numpy as np
import pytest

from hullrank._jit import njit
from hullrank.problem.intervals import fixed_margin_problem, hull_problem, nu_margin_problem
from hullrank.problem.layout import lay_out
from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_state import _segments

_move, _extremes, _gains, _find = loops._move, loops._extremes, loops._gains, loops._find
LENGTHS = pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 200])
FIRST, BASE = 5, -3  # the first sample of a range, and what is added to a sample to get its row


@njit()
def move(score, rounded, along, K, carry, d):
    _move(score, rounded, along, K, 0, 1, carry, d)


@njit()
def extremes(rounded, rising, falling, lo, hi, base):
    return _extremes(rounded, rising, falling, lo, hi, base)


@njit()
def gains(rounded, falling, K, curvature, along, gain, lo, hi, base, own, reach, here, conjugate):
    return _gains(rounded, falling, K, 0, curvature, along, gain, lo, hi, base, own, reach, here, conjugate)


@njit()
def find(values, base, minus, lo, hi, wanted):
    return _find(values, base, minus, lo, hi, wanted)


def floats(n, lines):
    return np.random.default_rng(n).normal(size=(lines, n + 10)).astype(np.float32)


def limits(n):
    """First sample, last + 1 and base as the loop gets them: unsigned, so that a negative base wraps around."""
    return tuple(np.array([FIRST, FIRST + n, BASE]).astype(np.uint64))


@LENGTHS
def test_a_move_follows_its_direction(n):
    along, rounded, ki, kj = floats(n, 4)
    score = floats(n + 1, 1)[0, 1:].astype(np.float64)
    direction = ki - kj + np.float32(0.5) * along
    moved = score + 0.25 * direction
    move(score, rounded, along, np.stack([ki, kj]), np.float32(0.5), 0.25)
    np.testing.assert_allclose(along, direction, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(score, moved, atol=1e-6)
    np.testing.assert_array_equal(rounded, score.astype(np.float32))


@LENGTHS
def test_extremes(n):
    rounded, rising, falling = floats(n, 3)
    rising[::3], falling[1::3] = -loops.FAR, loops.FAR
    found = extremes(rounded, rising, falling, *limits(n))
    s, rows = rounded[FIRST : FIRST + n], slice(FIRST + BASE, FIRST + BASE + n)
    np.testing.assert_array_equal(found, [(rising[rows] - s).max(), (falling[rows] - s).min()])


@LENGTHS
def test_gains(n):
    rounded, falling, ki, along, gain = floats(n, 5)
    curvature = np.ones(n + 10, dtype=np.float32)
    falling[::4] = loops.FAR
    own, reach, here, conjugate = (np.float32(x) for x in (1.0, 0.3, 0.2, 0.1))
    outside = gain[:FIRST].copy()
    best = gains(rounded, falling, ki[None], curvature, along, gain, *limits(n), own, reach, here, conjugate)
    at, goal = slice(FIRST, FIRST + n), falling[FIRST + BASE : FIRST + BASE + n]
    violation = np.where(goal < 1e29, np.maximum(reach - (goal - rounded[at]), 0), 0).astype(np.float64)
    bend = np.maximum(own + curvature[at] - 2 * ki[at] - conjugate * (here - along[at]) ** 2, 1e-7)
    np.testing.assert_allclose(gain[at], violation**2 / bend, rtol=1e-4)
    assert best == gain[at].max()
    np.testing.assert_array_equal(gain[:FIRST], outside)


@LENGTHS
def test_places(n):
    values, minus = floats(n, 2)
    lo, hi, base = limits(n)
    for k in {0, n // 2, n - 1}:
        wanted = values[FIRST + BASE + k] - minus[FIRST + k]
        assert find(values, base, minus, lo, hi, wanted) == FIRST + k
    assert find(values, base, minus, lo, hi, np.float32(99)) == FIRST + n - 1


@pytest.mark.parametrize(
    ("problem", "count"),
    [
        (fixed_margin_problem(4, 1.0), 3),
        (fixed_margin_problem(4, 1.0, thresholds="all"), 3),
        (hull_problem(4, [(0, 1), (1, 2), (2, 3)], 1.0, loss="hinge"), 6),
        (hull_problem(4, [(0, 1), (1, 2), (2, 3)], 1.0, intervals="free"), 6),
        (nu_margin_problem(4, 0.3, 60.0), 6),
    ],
)
def test_segments_cover_every_row_once(problem, count):
    layout = lay_out(problem, np.array([0, 7, 7 + 5, 20, 26]), np.ones(26))
    segments = [column.astype(np.int64) for column in _segments(problem, layout)]
    rows = []
    for threshold, lo, hi, base, sign in zip(*segments, strict=True):
        held = np.arange(lo, hi) + base
        np.testing.assert_array_equal(layout.row_sample[held], np.arange(lo, hi))
        np.testing.assert_array_equal(problem.threshold[layout.row_group[held]], threshold)
        if problem.has_rho:
            np.testing.assert_array_equal(problem.sign[layout.row_group[held]], sign)
        rows.append(held)
    assert len(rows) == count
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(layout.n_rows))
