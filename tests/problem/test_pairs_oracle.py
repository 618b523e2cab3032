"""Sums over all pairs equal brute force over the pairs, for all pairs at once and for listed ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.data.queries import ranks_within
from hullrank.exceptions import NoComparablePairError
from hullrank.problem import all_pairs, logistic_pairs
from hullrank.problem.all_pairs import AllPairs, comparable, pairs_per_query
from hullrank.problem.bundled_pairs import ROWS, BundledAtScores
from hullrank.problem.charges import LOSSES, Charge, charge_named
from hullrank.problem.pair_sets import ListedPairs
from hullrank.problem.pairs import PairProblem, every_pair, random_pairs
from hullrank.problem.pairs_at_scores import FEW_RANKS, AtScores, GradedAtScores, by_score
from hullrank.problem.rows import ArrayRows

WINDOWS = [(-np.inf, 1.0), (0.75, 1.25), (0.5, 1.0)]


@st.composite
def graded_samples(draw):
    """Targets with ties, queries of one document and more, scores with ties and with pairs right at the margin."""
    m = draw(st.integers(2, 40))
    integers = lambda low, high: np.array(draw(st.lists(st.integers(low, high), min_size=m, max_size=m)))  # noqa: E731
    targets = integers(0, draw(st.sampled_from([1, 3, 80])))
    query = np.unique(integers(0, draw(st.sampled_from([0, 2, 20]))), return_inverse=True)[1]
    weights = draw(st.sampled_from([np.ones(m), integers(0, 3).astype(float), integers(1, 50) / 7.0]))
    scores = integers(-12, 12) / draw(st.sampled_from([4.0, 3.0, 10.0])) + draw(st.sampled_from([0.0, 100.0]))
    return targets, query, weights, scores


def brute_pairs(targets, query, weights, equal_queries=False):
    """Every pair (hi, lo) with its weight, the weights summing to 1."""
    pairs = [
        (i, j, weights[i] * weights[j])
        for i in range(len(targets))
        for j in range(len(targets))
        if query[i] == query[j] and targets[i] > targets[j] and weights[i] * weights[j] > 0
    ]
    hi, lo, omega = (np.array(column) for column in zip(*pairs, strict=True)) if pairs else (np.empty(0),) * 3
    if equal_queries and pairs:
        totals = np.bincount(query[hi], omega)
        omega = omega / totals[query[hi]]
    return hi.astype(int), lo.astype(int), omega / omega.sum() if pairs else omega


def close(actual, expected, scale=1.0):
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(graded_samples(), st.booleans())
def test_all_sums_equal_brute_force(samples, equal_queries):
    targets, query, weights, scores = samples
    hi, lo, omega = brute_pairs(targets, query, weights, equal_queries)
    rows, pairs = comparable(targets, query, weights, equal_queries=equal_queries)
    if not len(hi):
        assert pairs is None
        return
    assert pairs.n_pairs == len(hi)
    X = np.column_stack([scores, np.sin(np.arange(len(scores))), np.ones(len(scores))])
    v = np.cos(np.arange(len(scores)))
    span = 1 + np.ptp(scores)
    for one in (pairs, pairs.listed()):
        assert one.n_pairs == len(hi)
        at = one.at(scores[rows])
        violated = scores[hi] < scores[lo] + 1.0
        loss, coef = at.hinge()
        close(loss, (omega * np.maximum(0, 1 - scores[hi] + scores[lo])).sum())
        close(coef, scatter(omega * violated, hi, lo, len(scores))[rows])
        close(at.violated(1.0), (omega * violated).sum())
        for low, high in WINDOWS:
            check_window(at, low, high, scores, hi, lo, omega, rows, X, v, span)


def scatter(values, hi, lo, m):
    return np.bincount(lo, values, m) - np.bincount(hi, values, m)


def check_window(at, low, high, scores, hi, lo, omega, rows, X, v, span):
    d = scores[hi] - scores[lo]
    above, below = np.maximum(0, high - d), np.maximum(0, low - d)
    inside = scores[hi] < scores[lo] + high
    if low > -np.inf:
        inside &= scores[hi] >= scores[lo] + low
    ramp = at.ramp(low, high)
    close(ramp.inside, (omega * inside).sum())
    a = np.where(inside, (above - below) / (high - low), 0.0)
    spread = (omega * a * (1 - a)).sum()
    assert spread - 1e-15 <= ramp.spread <= spread + 1e-12 * (4 + 4 * span) ** 2
    close(ramp.square, (omega * (above**2 - below**2)).sum(), span**2)
    close(ramp.coef, scatter(omega * (above - below), hi, lo, len(scores))[rows], span)
    close(at.laplacian(low, high, v[rows]), -scatter(omega * inside * (v[hi] - v[lo]), hi, lo, len(scores))[rows])
    D = X[hi] - X[lo]
    close(at.gram(low, high, X[rows]), D.T @ (D * (omega * inside)[:, None]), span**2)


def test_gradient_and_hessian_are_derivatives():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 4, 80)
    _, pairs = every_pair(y, np.zeros(80, int), np.ones(80))
    for loss in LOSSES:
        problem = PairProblem(ArrayRows(X), pairs, 7.0, charge_named(loss))
        w, step = rng.normal(size=3) / 3, 1e-6

        def charge(w, problem=problem):
            return problem.charged(problem.pairs.at(X @ w), 0.7)

        numeric = [(charge(w + e).value - charge(w - e).value) / (2 * step) for e in step * np.eye(3)]
        np.testing.assert_allclose(X.T @ charge(w).coef, numeric, rtol=1e-6)
        numeric = [X.T @ (charge(w + e).coef - charge(w - e).coef) / (2 * step) for e in 1e-3 * step * np.eye(3)]
        np.testing.assert_allclose(problem.curvature(charge(w).at, 0.7), 1e3 * np.array(numeric), rtol=1e-4)


def test_few_and_many_ranks_at_scale():
    """More ranks than any tree level, against the listed pairs."""
    rng = np.random.default_rng(1)
    for n_ranks in (2, 9, 70, 600):
        m = 600
        rank = ranks_within(rng.permutation(m) % n_ranks, np.zeros(m, int))
        pairs = AllPairs(rank, np.zeros(m, np.int64), np.full(m, 1.0 / m))
        scores = rng.normal(size=m)
        for window in WINDOWS:
            one, other = pairs.at(scores).ramp(*window), pairs.listed().at(scores).ramp(*window)
            close(one.inside, other.inside)
            close(one.square, other.square)
            close(one.coef, other.coef)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6, 1e-8])
def test_spread_of_a_narrow_window_stays_an_upper_bound(width):
    """Pairs on one edge of a window far narrower than the scores are large."""
    rng = np.random.default_rng(0)
    scores = np.repeat(rng.normal(size=50) * 30, 2)
    scores[1::2] += 1 + width * (0.5 - 10.0 ** rng.uniform(-4, -1, 50))
    _, pairs = comparable(np.tile([0, 1], 50), np.repeat(np.arange(50), 2), rng.random(100) + 0.1)
    exact = pairs.listed().at(scores).ramp(1 - width / 2, 1 + width / 2)
    found = pairs.at(scores).ramp(1 - width / 2, 1 + width / 2)
    assert exact.spread <= found.spread <= exact.inside / 4 * (1 + 1e-9)


def test_counts_are_exact_for_a_million_rows():
    m = 1_000_000
    pairs = AllPairs(np.arange(m), np.zeros(m, np.int64), np.ones(m))
    assert pairs.n_pairs == m * (m - 1) // 2


def test_samples_keep_whole_small_queries_and_normalise():
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(400), 10)
    _, pairs = comparable(rng.integers(0, 3, 4000), query, rng.random(4000) + 0.5)
    drawn, part = pairs.sample(800, seed=0)
    assert 700 < len(drawn) <= 900
    assert set(np.bincount(pairs.query[drawn])) <= {0, 10}
    np.testing.assert_allclose(part.listed().weights.sum(), 1.0)
    assert pairs.sample(4000, seed=0) is None


def test_random_pairs_belong_to_one_query_and_differ():
    rng = np.random.default_rng(3)
    targets, query = rng.integers(0, 4, 300), rng.integers(0, 40, 300)
    rows, pairs = random_pairs(targets, query, 5, np.random.RandomState(0))
    hi, lo = rows[pairs.hi], rows[pairs.lo]
    assert (targets[hi] > targets[lo]).all()
    assert (query[hi] == query[lo]).all()
    assert (np.bincount(pairs.hi, minlength=len(rows)) + np.bincount(pairs.lo, minlength=len(rows)) >= 5).all()
    assert len(hi) == 5 * len(rows)


def test_random_partners_are_uniform():
    """Three samples 0 < 1 < 2 in one query: each draws each of the other two equally often."""
    _, pairs = random_pairs(np.array([2, 0, 1]), np.zeros(3, int), 30_000, np.random.RandomState(0))
    counts = np.unique(np.stack([pairs.hi, pairs.lo]), axis=1, return_counts=True)[1]
    np.testing.assert_allclose(counts / 90_000, 1 / 3, atol=0.01)


@pytest.mark.parametrize("query", [np.zeros(4, int), np.arange(4)])
def test_nothing_to_compare_is_an_error(query):
    targets = np.ones(4) if not query.any() else np.arange(4)
    with pytest.raises(NoComparablePairError, match="no two samples can be compared"):
        every_pair(targets, query, np.ones(4))


def test_few_pairs_are_listed_and_many_are_not():
    assert isinstance(every_pair(np.arange(50), np.zeros(50, int), np.ones(50))[1], ListedPairs)
    assert isinstance(every_pair(np.arange(100), np.zeros(100, int), np.ones(100))[1], AllPairs)
    smooth = every_pair(np.arange(100), np.zeros(100, int), np.ones(100), smooth=True)[1]
    assert isinstance(smooth, ListedPairs)


@pytest.mark.parametrize("reach", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n_queries", [1, 7])
def test_a_smooth_charge_over_all_pairs_is_that_of_the_listed_pairs(reach, n_queries):
    rng = np.random.default_rng(3)
    m = 150
    rows, pairs = comparable(rng.integers(0, 12, m), rng.integers(0, n_queries, m), rng.uniform(0.5, 2, m))
    scores, v, X = reach * rng.normal(size=len(rows)), rng.normal(size=len(rows)), rng.normal(size=(len(rows), 3))
    one, other = pairs.at(scores), pairs.listed().at(scores)
    fast, slow = one.smooth(Charge.LOGISTIC), other.smooth(Charge.LOGISTIC)
    assert fast.value == pytest.approx(slow.value, rel=1e-12)
    np.testing.assert_allclose(fast.coef, slow.coef, atol=1e-14)
    assert np.abs(fast.coef - slow.coef).sum() <= fast.noise
    for product, argument in (("smooth_laplacian", v), ("smooth_gram", X)):
        slow = getattr(other, product)(Charge.LOGISTIC, argument)
        fast = getattr(one, product)(Charge.LOGISTIC, argument)
        np.testing.assert_allclose(fast, slow, atol=5e-4 * np.abs(slow).max())  # they only direct a solver's steps


def test_totals_of_queries_keep_their_digits_beside_larger_ones():
    """Every query has weights 10,000 times smaller than the one before; against fractions."""
    rng = np.random.default_rng(0)
    query = np.sort(rng.integers(0, 6, 60))
    rank = ranks_within(rng.integers(0, 5, 60), query)
    weights = 10.0 ** (rng.uniform(-2, 2, 60) + 10 - 4 * query)
    n_ranks = np.array([rank[query == q].max() + 1 for q in range(6)])
    found = pairs_per_query(rank, query, n_ranks, weights)
    exact = [
        sum(Fraction(weights[i]) * Fraction(weights[j]) for i in of for j in of if rank[i] > rank[j])
        for of in (np.flatnonzero(query == q) for q in range(6))
    ]
    np.testing.assert_allclose(found, [float(value) for value in exact], rtol=1e-14)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_derivatives_at_zero_weights_are_those_of_the_listed_pairs(loss):
    rng = np.random.default_rng(3)
    targets, query, X = rng.integers(0, 4, 60), rng.integers(0, 3, 60), rng.normal(size=(60, 3)) + 5
    _, pairs = comparable(targets, query, rng.random(60) + 0.1)
    problem = PairProblem(ArrayRows(X), pairs, 7.0, charge_named(loss))
    mean, square = problem.mean_difference()
    pull, slope = problem.derivatives_at_zero(4.0)
    listed = PairProblem(ArrayRows(X), pairs.listed(), 7.0, charge_named(loss))
    at = listed.pairs.at(np.zeros(60))
    np.testing.assert_allclose(-7 * pull * mean, X.T @ listed.charged(at, 4.0).coef, atol=1e-12)
    np.testing.assert_allclose(7 * slope * square, listed.curvature(at, 4.0), atol=1e-11)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_likely_length_is_the_best_one_of_normal_differences(loss, C):
    charge, d = charge_named(loss), np.random.default_rng(0).normal(0.7, 0.8, 20_000)
    problem = PairProblem(ArrayRows(np.zeros((2, 1))), ListedPairs(*np.ones((3, 1)), 2), C, charge)
    length = 0.3
    objective = lambda t: 0.5 * length * t * t + C * charge.value(charge.margin - t * d).mean()  # noqa: E731
    best = min(map(objective, np.geomspace(0.25, 16, 400)))
    found = problem.likely_length(length, float(d.mean()), float(np.mean(d * d)))
    assert objective(found) <= 1.002 * best


@pytest.mark.parametrize("few", [0, 24])
def test_squares_of_tiny_violations_keep_their_digits(few, monkeypatch):
    """Scores a millionth short of the margin: the sum of squares is not a difference of larger sums."""
    monkeypatch.setattr(all_pairs, "FEW_PARTNERS", few)
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 5, 60)
    scores = 100.0 + targets * (1 - 1e-6 * rng.random(60))
    _, pairs = comparable(targets, np.zeros(60, np.int64), np.ones(60))
    z = [1 - (scores[i] - scores[j]) for i in range(60) for j in range(60) if targets[i] > targets[j]]
    exact = np.mean(np.maximum(z, 0.0) ** 2)
    assert exact < 1e-12
    assert pairs.at(scores).ramp(-np.inf, 1.0).square == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("scores", [np.zeros(50), np.r_[np.arange(49.0), 1e300], np.r_[-1e-320, np.zeros(48), 1e-320]])
def test_scores_that_no_radix_tells_apart_are_sorted_all_the_same(scores):
    shuffled = np.random.default_rng(0).permutation(scores)
    order, found = by_score(shuffled, np.zeros(50, np.int64), np.array([0, 50]))
    np.testing.assert_array_equal(found, np.sort(scores))
    np.testing.assert_array_equal(shuffled[order], found)


def test_a_radix_sort_is_a_sort_within_queries():
    rng = np.random.default_rng(1)
    query = rng.integers(0, 7, 3000)
    scores = rng.standard_cauchy(3000).round(2)
    order, found = by_score(scores, query, np.searchsorted(np.sort(query), np.arange(8)))
    np.testing.assert_array_equal(found, scores[np.lexsort((scores, query))])
    np.testing.assert_array_equal(query[order], np.sort(query))


@pytest.mark.parametrize("n_ranks", [2, 5, FEW_RANKS])
def test_running_sums_of_few_ranks_equal_the_tree(n_ranks):
    """Scores with ties, pairs right at a margin, and weights."""
    rng = np.random.default_rng(n_ranks)
    targets, scores = rng.permutation(np.arange(300) % n_ranks), rng.integers(-20, 20, 300) / 4
    _, pairs = comparable(targets, np.zeros(300, np.int64), rng.random(300) + 0.1)
    ours, tree, v = pairs.at(scores), AtScores(pairs, scores), rng.normal(size=300)
    assert type(ours) is GradedAtScores
    for margin in (-11.0, -0.5, 0.0, 1.0, 1.25, 11.0):
        for mine, theirs in zip(ours.hinge(margin), tree.hinge(margin), strict=True):
            close(mine, theirs)
    for low, high in WINDOWS:
        close(ours.laplacian(low, high, v), tree.laplacian(low, high, v))
        close(_among(ours, low, high, v), tree.laplacian(low, high, v))
        for mine, theirs in zip(ours.ramp(low, high), tree.ramp(low, high), strict=True):
            close(mine, theirs)


@pytest.mark.parametrize("room", [1 << 22, 40])
def test_logistic_pairs_far_apart_and_in_little_room(room, monkeypatch):
    """Scores over hundreds of stretches of the exponentials, with ties, and powers that are summed a few at a time."""
    monkeypatch.setattr(logistic_pairs, "_ROOM", room)
    rng = np.random.default_rng(2)
    targets, query = rng.integers(0, 9, 120), rng.integers(0, 3, 120)
    scores = np.round(rng.standard_cauchy(120) * 30, 1)
    _, pairs = comparable(targets, query, rng.random(120) + 0.1)
    at, listed = pairs.at(scores), pairs.listed().at(scores)
    ours, theirs = at.smooth(Charge.LOGISTIC), listed.smooth(Charge.LOGISTIC)
    assert ours.value == pytest.approx(theirs.value, rel=1e-13)
    np.testing.assert_allclose(ours.coef, theirs.coef, atol=1e-15)
    X = rng.normal(size=(120, 3))
    fast, slow = at.smooth_gram(Charge.LOGISTIC, X), listed.smooth_gram(Charge.LOGISTIC, X)
    np.testing.assert_allclose(fast, slow, atol=5e-4 * np.abs(slow).max())


def test_scores_that_share_the_memory_of_their_running_sums_keep_their_own():
    """Sums at one vector of scores, then at another, then at the first again."""
    rng = np.random.default_rng(0)
    rank = rng.integers(0, 4, 300)
    pairs = AllPairs(rank, np.zeros(300, dtype=np.int64), np.full(300, 0.01))
    first, second = (GradedAtScores(pairs, rng.normal(size=300)) for _ in range(2))
    v = rng.normal(size=300)
    for at in (first, second, first, second):
        alone = AtScores(pairs, at.given)
        at.sums.clear()
        np.testing.assert_allclose(at.ramp(0.5, 1.5).coef, alone.ramp(0.5, 1.5).coef, atol=1e-12)
        np.testing.assert_allclose(at.laplacian(0.5, 1.5, v), alone.laplacian(0.5, 1.5, v), atol=1e-12)
        np.testing.assert_allclose(at.hinge()[1], alone.hinge()[1], atol=1e-12)


@pytest.mark.parametrize(("n_queries", "n_targets"), [(1, 10**6), (1, 150), (1, 4), (3, 10**6), (3, 40)])
def test_sums_over_bundled_ranks_equal_the_tree(monkeypatch, n_queries, n_targets):
    """Bundles of one rank, and of many; ranks of more rows than a bundle has; scores with ties, and weights."""
    monkeypatch.setattr(all_pairs, "MANY_RANKS", 3)
    rng = np.random.default_rng(n_targets)
    targets, query = rng.integers(0, n_targets, 500), rng.integers(0, n_queries, 500)
    _, pairs = comparable(targets, query, rng.random(500) + 0.1)
    scores, v = rng.integers(-20, 20, 500) / 4, rng.normal(size=500)
    ours, tree = pairs.at(scores), AtScores(pairs, scores)
    assert type(ours) is BundledAtScores
    for margin in (-11.0, -0.5, 0.0, 1.0, 1.25, 11.0):
        for mine, theirs in zip(ours.hinge(margin), tree.hinge(margin), strict=True):
            close(mine, theirs)
    for low, high in WINDOWS:
        close(ours.laplacian(low, high, v), tree.laplacian(low, high, v))
        for mine, theirs in zip(ours.ramp(low, high), tree.ramp(low, high), strict=True):
            close(mine, theirs)
        close(ours.gram(low, high, v[:, None]), tree.gram(low, high, v[:, None]))
    close(ours.smooth(Charge.LOGISTIC).coef, tree.smooth(Charge.LOGISTIC).coef)


def test_bundles_hold_whole_ranks_of_one_query():
    rng = np.random.default_rng(0)
    targets, query = np.r_[rng.integers(0, 400, 900), np.full(100, 7)], rng.integers(0, 2, 1000)
    _, pairs = comparable(targets, query, np.ones(1000))
    bundles = pairs.bundles
    np.testing.assert_array_equal(bundles.rows, np.lexsort((pairs.rank, pairs.query)))
    for first, end in zip(bundles.starts[:-1], bundles.starts[1:], strict=True):
        assert len(set(bundles.query[first:end])) == len(set(bundles.bundle[first:end])) == 1
        assert end == 1000 or bundles.rank[end] != bundles.rank[end - 1]
        assert np.count_nonzero(bundles.rank[first:end] != bundles.rank[end - 1]) < ROWS


def _among(at, low, high, v):
    """L v from L among the rows of the window alone."""
    rows, L = at.laplacian_among(low, high)
    out = np.zeros(len(v))
    out[rows] = L @ v[rows]
    return out
