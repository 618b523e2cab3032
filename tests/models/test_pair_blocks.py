"""Pairs of rows in blocks: the same problem, objective and answer as with all rows in memory."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from cases import slow_after
from hullrank import SampledPairsRanker, SwappedPairsRanker
from hullrank.exceptions import ConvergenceWarning, HullrankError, NoComparablePairError
from hullrank.io import Blocks
from hullrank.models import _pair_blocks, _pair_spread
from hullrank.problem import block_pairs
from hullrank.problem.block_rows import ReadBlocks
from hullrank.problem.certificate import Status
from hullrank.problem.charges import charge_named
from hullrank.problem.statement import Point
from hullrank.solvers.pairs_newton import solve_pairs

KINDS = ("queries", "ranks", "ranges")
LOSSES = ("hinge", "squared_hinge", "logistic")


def data(kind, m=3000, n=4, seed=0):
    """Rows, targets, weights and queries of each of the ways in which pairs lie in blocks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) + 2
    t = X @ rng.normal(size=n) + 2 * rng.normal(size=m)
    weights = rng.integers(0, 4, m).astype(float)
    if kind == "queries":
        return X, np.digitize(t, np.quantile(t, [0.3, 0.6])), weights, np.arange(m) // 10
    if kind == "ranks":
        return X, np.digitize(t, np.quantile(t, [0.2, 0.5, 0.9])), weights, None
    order = np.argsort(t)
    return X[order], np.round(t[order], 1), weights, None


def in_blocks(data, cuts):
    """Blocks with the given numbers of rows before them."""
    X, y, weights, qid = data
    parts = [slice(a, b) for a, b in pairwise([0, *cuts, len(y)])]
    return Blocks.from_batches([(X[p], y[p], weights[p], None if qid is None else qid[p]) for p in parts])


@pytest.fixture
def small_samples(monkeypatch):
    """Samples so small that rows do not all fit into them."""
    monkeypatch.setattr(_pair_blocks, "SAMPLE", 20_000)
    monkeypatch.setattr(_pair_blocks, "_FEWEST", 600)


@pytest.mark.parametrize("loss", slow_after(1, LOSSES))
@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_that_of_all_rows_in_memory(kind, loss, small_samples):
    X, y, weights, qid = rows = data(kind)
    model = SwappedPairsRanker(5.0, loss=loss).fit(in_blocks(rows, range(500, 3000, 500)))
    memory = SwappedPairsRanker(5.0, loss=loss).fit(X, y, sample_weight=weights, qid=qid)
    assert model.certificate_.solver == "block_pairs"
    assert model.certificate_.status == "converged"
    assert model.certificate_.n_order_constraints == memory.certificate_.n_order_constraints
    stated = memory.state(X, y, sample_weight=weights, qid=qid)
    exact = stated.objective(Point(model.coef_))
    assert model.certificate_.dual <= memory.certificate_.primal * (1 + 1e-12)
    assert exact <= model.certificate_.primal * (1 + 1e-9)
    assert_allclose(model.certificate_.primal, memory.certificate_.primal, rtol=2e-6)
    assert_allclose(model.score_samples(X), X @ model.coef_)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(KINDS), st.sampled_from(LOSSES), st.lists(st.integers(0, 40), max_size=6), st.integers(0, 99),
    st.sampled_from([0.0, 0.3, 3.0]),
)  # fmt: skip
def test_any_partition_gives_the_same_objective(kind, loss, cuts, seed, size):
    X, y, weights, qid = rows = data(kind, m=400, seed=seed)
    model = SwappedPairsRanker(2.0, loss=loss)
    stated = model.state(X, y, sample_weight=weights, qid=qid)
    raw = ReadBlocks(in_blocks(rows, sorted(10 * cut for cut in cuts)))
    checked = raw.map(_pair_blocks.checked_block)
    found = checked.sum(_pair_blocks.first_look, _pair_blocks.Wanted(10, None))
    _pair_blocks.check_look(found)
    blocks = _pair_blocks.state_in_blocks(checked, found, 2.0, charge_named(loss), "pairs")
    assert blocks.n_order_constraints == stated.n_order_constraints
    w = size * np.random.default_rng(seed).normal(size=X.shape[1])
    survey = blocks.survey(w, 0.25)
    exact = stated.objective(Point(w))
    assert exact <= survey.objective * (1 + 1e-12)
    assert survey.objective <= exact * (1 + 1e-4)
    grade = blocks.grade(Point(w), survey)
    best = SwappedPairsRanker(2.0, loss=loss).fit(X, y, sample_weight=weights, qid=qid).certificate_.primal
    assert grade.dual <= best * (1 + 1e-12)


@pytest.mark.parametrize("query_weight", ["pairs", "equal"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_price_is_that_of_all_rows(kind, query_weight, small_samples):
    """C="scale" is measured on all pairs, whatever the sample: of dense and of sparse rows, also far from 0."""
    X, y, weights, qid = data(kind, m=1500)
    for rows in (X + 1e3, sp.csr_array(np.where(X > 2, X, 0.0))):
        model = SwappedPairsRanker(query_weight=query_weight, max_iter=1)
        with pytest.warns(ConvergenceWarning):
            model.fit(in_blocks((rows, y, weights, qid), [0, 300, 500, 1000]))
        stated = SwappedPairsRanker(query_weight=query_weight).state(rows, y, sample_weight=weights, qid=qid)
        assert_allclose(model.C_, stated.C, rtol=1e-8)


def test_the_price_of_wide_rows_is_that_of_the_sample(small_samples, monkeypatch):
    X, y, weights, qid = data("ranks")
    monkeypatch.setattr(_pair_spread, "_MOST_COLUMNS", 3)
    model = SwappedPairsRanker().fit(in_blocks((X, y, weights, qid), [1500]))
    stated = SwappedPairsRanker().state(X, y, sample_weight=weights)
    assert 1e-8 < abs(model.C_ / stated.C - 1) < 0.1


@pytest.mark.parametrize("kind", ["queries", "ranges"])
def test_few_rows_in_the_sample_take_few_passes(kind, small_samples):
    """At the usual price, which is high here, Newton's steps from a small sample go too far and are cut."""
    X, y, weights, qid = data(kind)
    X = np.where(X > 2, X, 0.0) if kind == "ranges" else X
    model = SwappedPairsRanker().fit(in_blocks((X, y, weights, qid), range(500, 3000, 500)))
    assert model.certificate_.status == "converged"
    assert model.certificate_.passes <= 20  # 42 and 401 when every step was taken as a whole, or cut to a quarter


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_coarse_bins_end_the_fit_with_the_reason(loss, small_samples, monkeypatch):
    monkeypatch.setattr(block_pairs, "TABLE", 1 << 16)
    with pytest.warns(ConvergenceWarning, match="bins of limited number; use fewer and larger blocks"):
        model = SwappedPairsRanker(loss=loss).fit(in_blocks(data("ranges"), range(300, 3000, 300)))
    assert model.certificate_.status == "stalled"
    assert model.certificate_.passes <= 30


@pytest.mark.slow
def test_pairs_at_the_margin_end_the_fit_with_the_reason(monkeypatch):
    """Rows of few values that find no room, whose pairs lie exactly at the margin: no window is narrow enough."""
    monkeypatch.setattr(_pair_blocks, "_FEWEST", 500)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40_000, 4)))
    y = np.digitize(X @ rng.normal(size=4) + rng.normal(size=len(X)), [-3, -1, 1, 3])
    with pytest.warns(ConvergenceWarning, match="more passes did not lower it|bins of limited number"):
        model = SwappedPairsRanker().fit(Blocks.from_arrays(X, y, block_rows=5000, memory=1 << 15))
    assert model.certificate_.status == "stalled"
    assert model.certificate_.passes <= 80  # 401 when only max_iter ended it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "most"), [("queries", (3, 7, 4)), ("ranks", (7, 9, 7)), ("ranges", (7, 9, 7))], ids=KINDS
)
def test_few_passes_with_little_memory(kind, most):
    """A sixth of the rows as memory, which leaves a sample of 2%; continuous columns at the usual, high price."""
    X, y, weights, qid = data(kind, m=50_000)
    blocks = Blocks.from_arrays(X, y, sample_weight=weights, qid=qid, block_rows=10_000, memory=X.nbytes // 6)
    for loss, passes in zip(("squared_hinge", "hinge", "logistic"), most, strict=True):
        found = SwappedPairsRanker(loss=loss).fit(blocks).certificate_
        assert found.status == "converged"
        assert found.passes <= passes


def test_blocks_that_meet_in_a_target(small_samples):
    """A target in which blocks end and begin, one that fills a block, and blocks without a neighbour's target."""
    X, _, weights, _ = data("ranges")
    y = np.concatenate([np.linspace(0, 1, 1000), np.full(900, 1.0), np.linspace(1, 2, 500), np.linspace(3, 4, 600)])
    model = SwappedPairsRanker(5.0).fit(in_blocks((X, y, weights, None), [700, 1200, 1500, 2400]))
    memory = SwappedPairsRanker(5.0).fit(X, y, sample_weight=weights)
    assert model.certificate_.n_order_constraints == memory.certificate_.n_order_constraints
    assert_allclose(model.certificate_.primal, memory.certificate_.primal, rtol=2e-6)


def test_ctrl_c_while_the_sample_is_solved_keeps_its_answer(small_samples, monkeypatch):
    """One survey grades the weights of the sample on all rows, and no more steps are made."""
    X, y, weights, qid = data("queries")
    monkeypatch.setattr(
        "hullrank.solvers.block_pairs.solve_pairs",
        lambda statement, options: replace(solve_pairs(statement, options), status=Status.INTERRUPTED),
    )
    with pytest.warns(ConvergenceWarning, match="the best answer so far is kept"):
        model = SwappedPairsRanker(5.0).fit(in_blocks((X, y, weights, qid), [1500]))
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.passes == 2
    assert 1e-6 < model.certificate_.relative_gap < 1


def test_equal_queries(small_samples):
    X, y, weights, qid = rows = data("queries")
    model = SwappedPairsRanker(5.0, query_weight="equal").fit(in_blocks(rows, [1000, 2000]))
    memory = SwappedPairsRanker(5.0, query_weight="equal").fit(X, y, sample_weight=weights, qid=qid)
    assert_allclose(model.certificate_.primal, memory.certificate_.primal, rtol=2e-6)


@pytest.mark.parametrize("kind", ["queries", "ranks"])
def test_sparse_blocks(kind, small_samples):
    X, y, weights, qid = data(kind)
    X = np.where(X > 2, X, 0.0)
    sparse = in_blocks((sp.csr_array(X), y, weights, qid), [1000, 2000])
    model = SwappedPairsRanker(5.0).fit(sparse)
    assert model.certificate_.status == "converged"
    memory = SwappedPairsRanker(5.0).fit(X, y, sample_weight=weights, qid=qid)
    assert_allclose(model.certificate_.primal, memory.certificate_.primal, rtol=2e-6)


def test_few_rows_are_fitted_in_memory():
    X, y, weights, _ = rows = data("ranks")
    model = SwappedPairsRanker(5.0).fit(in_blocks(rows, [100, 100, 2000]))
    memory = SwappedPairsRanker(5.0).fit(X, y, sample_weight=weights)
    assert model.certificate_.solver == memory.certificate_.solver
    assert_allclose(model.coef_, memory.coef_, rtol=1e-6)


@pytest.mark.parametrize("query_weight", ["pairs", "equal"])
@pytest.mark.parametrize("kind", ["queries", "ranks"])
def test_rows_of_few_values_are_merged(kind, query_weight, small_samples):
    """Pairs of such rows lie exactly at the margin, where bins of scores cannot tell them apart: 401 passes."""
    X, y, weights, qid = data(kind, n=2)
    X = np.round(X / 2)
    qid = None if qid is None else np.sort(qid % 10)
    model = SwappedPairsRanker(query_weight=query_weight).fit(in_blocks((X, y, weights, qid), [600, 1500]))
    memory = SwappedPairsRanker(query_weight=query_weight).fit(X, y, sample_weight=weights, qid=qid)
    assert (model.certificate_.status, model.certificate_.passes) == ("converged", 2)
    assert model.certificate_.n_order_constraints == memory.certificate_.n_order_constraints
    assert_allclose(model.C_, memory.C_, rtol=1e-12)
    assert_allclose(model.certificate_.primal, memory.certificate_.primal, rtol=2e-6)
    stated = memory.state(X, y, sample_weight=weights, qid=qid)
    assert_allclose(stated.objective(Point(model.coef_)), model.certificate_.primal, rtol=1e-12)


def test_names_come_with_the_blocks(small_samples):
    X, y, weights, _ = data("ranks")
    blocks = Blocks(lambda i: (X, y, weights, None), 1, feature_names=list("abcd"))
    assert SwappedPairsRanker().fit(blocks).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X, y, w, q: [(X, y, w, q), (X[:10, :2], y[:10], w[:10], q[:10] + 1000)], "has 2 columns and another 4"),
        (lambda X, y, w, q: [(X, y, w, q), (X, y, w, q)], r"query .* has rows in two blocks.*shuffle\(on=\"qid\"\)"),
        (lambda X, y, w, q: [(X, y, w, q), (X, y, w, None)], "some blocks have queries and others have none"),
        (lambda X, y, w, q: [(X, X[:, 0], w, None), (X, X[:, 0], w, None)], "blocks overlap.*sort the rows"),
        (lambda X, y, w, q: [(X, y.astype(str), w, None)], "must be numbers"),
        (lambda X, y, w, q: [(X, y, w, q[:5])], "qid has 5 entries|one query id per row"),
        (lambda X, y, w, q: [(X, None, w, q)], "the target y is None"),
        (lambda X, y, w, q: [(X, y, 0 * w, None)], "no row of positive weight"),
    ],
)
def test_blocks_that_cannot_be_ranked(change, said, small_samples):
    blocks = Blocks.from_batches(change(*data("queries")))
    with pytest.raises(HullrankError, match=said):
        SwappedPairsRanker().fit(blocks)


def test_equal_targets(small_samples):
    X, y, weights, _ = data("ranks")
    with pytest.raises(NoComparablePairError, match="all targets are equal"):
        SwappedPairsRanker().fit(in_blocks((X, 0 * y, weights, None), [1500]))


def test_what_does_not_go_with_blocks():
    blocks = in_blocks(data("ranks"), [1500])
    with pytest.raises(HullrankError, match="linear scores"):
        SwappedPairsRanker(kernel="rbf").fit(blocks)
    with pytest.raises(HullrankError, match="leave out y"):
        SwappedPairsRanker().fit(blocks, [0, 1])
    with pytest.raises((TypeError, ValueError)):
        SampledPairsRanker().fit(blocks, None)
