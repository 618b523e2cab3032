"""The vectorised passes against NumPy, at lengths around that of a block."""

import numpy as np
import pytest

from hullrank._jit import njit
from hullrank.problem.intervals import Charge, fixed_margin_problem, hull_problem, nu_margin_problem
from hullrank.problem.layout import lay_out
from hullrank.solvers import _smo_scans as scans
from hullrank.solvers._smo_state import _group_table, _segment_table

move, extremes, gains, differences, find = scans.move, scans.extremes, scans.gains, scans.differences, scans.find
LENGTHS = pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 200])


@njit()
def one_move(s, q, ki, kj, share, d, rounded):
    move(s, q, ki, kj, share, d, rounded)


@njit()
def all_extremes(s, up, down, ends):
    extremes(s, up, down, ends)


@njit()
def all_gains(s, ki, down, curvature, q, out, own, reach, qi, conjugate):
    return gains(s, ki, down, curvature, q, out, own, reach, qi, conjugate)


@njit()
def place(a, b, out, wanted):
    differences(a, b, out)
    return find(out, len(a), wanted)


def floats(n, lines, seed=0):
    return np.random.default_rng(seed + n).normal(size=(lines, n)).astype(np.float32)


@LENGTHS
def test_a_move_follows_its_direction(n):
    q, ki, kj, rounded = floats(n, 4)
    s = floats(n, 1, seed=1)[0].astype(np.float64)
    direction = ki - kj + np.float32(0.5) * q
    moved = s + 0.25 * direction
    one_move(s, q, ki, kj, np.float32(0.5), 0.25, rounded)
    np.testing.assert_allclose(q, direction, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s, moved, atol=1e-6)
    np.testing.assert_array_equal(rounded, s.astype(np.float32))


@LENGTHS
def test_extremes(n):
    s, up, down = floats(n, 3)
    up[::3], down[1::3] = -1e30, 1e30
    ends = np.empty(2, dtype=np.float32)
    all_extremes(s, up, down, ends)
    np.testing.assert_array_equal(ends, [(up - s).max(), (down - s).min()])


@LENGTHS
def test_gains(n):
    s, ki, down, q, out = floats(n, 5)
    curvature = np.ones(n, dtype=np.float32)
    down[::4] = 1e30
    own, reach, qi, conjugate = (np.float32(x) for x in (1.0, 0.3, 0.2, 0.1))
    best = all_gains(s, ki, down, curvature, q, out, own, reach, qi, conjugate)
    violation = np.where(down < 1e29, np.maximum(reach - (down - s), 0), 0).astype(np.float64)
    bend = np.maximum(own + curvature - 2 * ki - conjugate * (qi - q) ** 2, 1e-7)
    np.testing.assert_allclose(out, violation**2 / bend, rtol=1e-4)
    assert best == out.max()


@LENGTHS
def test_places(n):
    a, b, out = floats(n, 3)
    for k in {0, n // 2, n - 1}:
        assert place(a, b, out, a[k] - b[k]) == k
    assert place(a, b, out, np.float32(99)) == n - 1


@pytest.mark.parametrize(
    ("problem", "count"),
    [
        (fixed_margin_problem(4, 1.0), 3),
        (fixed_margin_problem(4, 1.0, thresholds="all"), 3),
        (hull_problem(4, [(0, 1), (1, 2), (2, 3)], 1.0, charge=Charge.HINGE), 6),
        (nu_margin_problem(4, 0.3, 60.0), 6),
    ],
)
def test_segments_cover_every_row_once(problem, count):
    layout = lay_out(problem, np.array([0, 7, 7 + 5, 20, 26]), np.ones(26))
    groups = _group_table(problem, layout)
    segments = _segment_table(groups, separate=problem.has_rho)
    assert len(segments) == count
    rows = [np.arange(lo, hi) + base for _, lo, hi, base, _ in segments]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(layout.n_rows))
    for (threshold, lo, hi, base, _), held in zip(segments, rows, strict=True):
        np.testing.assert_array_equal(layout.row_sample[held], np.arange(lo, hi))
        np.testing.assert_array_equal(problem.threshold[layout.row_group[held]], threshold)
        np.testing.assert_array_equal(groups[layout.row_group[held], 3], base)
