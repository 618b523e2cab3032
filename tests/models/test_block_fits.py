"""Fits to rows in blocks: the answer is that in memory, however the rows are cut, and passes are few and counted."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    ExactRanker,
    FixedMarginClassifier,
    FixedMarginClassifierCV,
    InformativeVectorClassifier,
    LinearRelaxationRanker,
    NuMarginClassifier,
    OrderGraph,
    OrdinalCalibrator,
    PartialOddsClassifier,
    PRank,
    RankBoost,
    SampledPairsRanker,
    SemiSupervised,
    SumOfMarginsClassifier,
)
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, LabelError
from hullrank.models import _block_samples
from hullrank.problem.certificate import Status
from hullrank.solvers.base import Options
from hullrank.solvers.blocks import solve_in_blocks


class Source:
    """A source that cuts arrays at the given places."""

    def __init__(self, X, y, cuts, weight=None, memory=1):
        self.ends = [0, *sorted(cuts), len(y)]
        self.X, self.y, self.weight, self.memory, self.reads = X, y, weight, memory, 0

    def __len__(self):
        return len(self.ends) - 1

    def read(self, i):
        self.reads += 1
        part = slice(self.ends[i], self.ends[i + 1])
        return self.X[part], self.y[part], None if self.weight is None else self.weight[part], None


def draw(m=6000, n=4, K=4, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) + 0.5
    score = X @ rng.normal(size=n) + noise * rng.normal(size=m)
    return X, np.argsort(np.argsort(score)) * K // m


X, y = draw()
EVEN = np.arange(500, 6000, 500)
MODELS = {
    "fixed margin": lambda **o: FixedMarginClassifier(0.5, **o),
    "squared": lambda **o: FixedMarginClassifier(0.5, loss="squared_hinge", **o),
    "logistic": lambda **o: FixedMarginClassifier(0.5, loss="logistic", **o),
    "all thresholds": lambda **o: FixedMarginClassifier(0.5, thresholds="all", **o),
    "all thresholds, logistic": lambda **o: FixedMarginClassifier(0.5, thresholds="all", loss="logistic", **o),
    "hull": lambda **o: ConvexHullRanker(C=0.5, **o),
    "hull, hinge": lambda **o: ConvexHullRanker(C=0.5, loss="hinge", **o),
    "hull, partial order": lambda **o: ConvexHullRanker(OrderGraph.from_edges([(0, 1), (0, 2), (2, 3)]), C=0.5, **o),
    "edge": lambda **o: ConvexHullRanker("full", C=0.5, slack="edge", **o),
    "l1": lambda **o: ConvexHullRanker(C=0.05, penalty="l1", **o),
    "l1, hinge": lambda **o: ConvexHullRanker(C=0.05, penalty="l1", loss="hinge", **o),
    "nu": lambda **o: NuMarginClassifier(0.7, **o),
    "sum": lambda **o: SumOfMarginsClassifier(0.0009, **o),
    "balanced": lambda **o: FixedMarginClassifier(0.5, class_weight="balanced", **o),
}


@pytest.fixture
def little_room(monkeypatch):
    """Samples and rooms so small that a few thousand rows do not fit."""
    monkeypatch.setattr(_block_samples, "MOST_SAMPLED", 1000)
    monkeypatch.setattr(_block_samples, "_LEAST_SAMPLE", 1)
    monkeypatch.setattr("hullrank.models.intervals.LEAST_ROOM", 600)


def agree(a, b, tol=1e-6):
    assert a.certificate_.status == b.certificate_.status == "converged"
    size = abs(b.certificate_.primal)
    assert abs(a.certificate_.primal - b.certificate_.primal) <= 2 * tol * size
    assert a.certificate_.dual <= b.certificate_.primal * (1 + 1e-12) + 1e-12 * size
    np.testing.assert_allclose(a.coef_, b.coef_, atol=2 * np.sqrt(2 * tol * size) + 1e-9)
    np.testing.assert_array_equal(a.classes_, b.classes_)


@pytest.mark.usefixtures("little_room")
@pytest.mark.filterwarnings("ignore:the ranking has collapsed")
@pytest.mark.parametrize("name", slow_after(4, MODELS))
def test_the_answer_is_that_in_memory(name):
    source = Source(X, y, EVEN)
    model = MODELS[name]().fit(source)
    agree(model, MODELS[name]().fit(X, y))
    assert model.certificate_.passes * len(source) == source.reads
    assert model.certificate_.passes <= 8
    assert model.certificate_.n_order_constraints == MODELS[name]().fit(X, y).certificate_.n_order_constraints


@pytest.mark.usefixtures("little_room")
@given(st.lists(st.integers(0, 6000), max_size=8), st.sampled_from(["fixed margin", "hull", "logistic"]))
@settings(max_examples=15, deadline=None)
def test_any_cut_into_blocks_gives_the_same_answer(cuts, name):
    agree(MODELS[name]().fit(Source(X, y, cuts)), MODELS[name]().fit(X, y))


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("K", [2, 100])
def test_two_and_a_hundred_classes(K):
    X, y = draw(8000, K=K, seed=1)
    agree(FixedMarginClassifier().fit(Source(X, y, range(800, 8000, 800))), FixedMarginClassifier().fit(X, y))


@pytest.mark.usefixtures("little_room")
def test_one_class_a_block():
    by_class = np.argsort(y, kind="stable")
    cuts = np.searchsorted(y[by_class], [1, 2, 3])
    agree(ConvexHullRanker().fit(Source(X[by_class], y[by_class], cuts)), ConvexHullRanker().fit(X, y))


@pytest.mark.usefixtures("little_room")
def test_weights_are_repetitions_and_rows_of_weight_0_do_not_count():
    rng = np.random.default_rng(2)
    weights = rng.integers(0, 4, len(y)).astype(float)
    weights[500:1000] = 0.0  # a block in which no row counts
    kept = np.repeat(np.arange(len(y)), weights.astype(int))
    model = FixedMarginClassifier().fit(Source(X, y, EVEN, weights))
    agree(model, FixedMarginClassifier().fit(X[kept], y[kept]))


@pytest.mark.usefixtures("little_room")
def test_sparse_blocks():
    rng = np.random.default_rng(3)
    S = sp.csr_array(sp.random(6000, 12, density=0.3, random_state=rng))
    y = np.digitize(S @ rng.normal(size=12) + 0.3 * rng.normal(size=6000), [-0.5, 0.5])
    for loss in ("hinge", "squared_hinge", "logistic"):
        model = FixedMarginClassifier(1.0, loss=loss)
        agree(FixedMarginClassifier(1.0, loss=loss).fit(Source(S, y, EVEN)), model.fit(S, y))


@pytest.mark.usefixtures("little_room")
def test_rows_far_from_the_origin_keep_their_digits():
    far = X + 1e4
    agree(ConvexHullRanker(tol=1e-5).fit(Source(far, y, EVEN)), ConvexHullRanker(tol=1e-5).fit(far, y), 1e-5)


@pytest.mark.usefixtures("little_room")
def test_string_labels_and_categories_keep_their_order():
    pl = pytest.importorskip("polars")
    names = np.array(["poor", "fair", "good", "best"])
    model = FixedMarginClassifier(classes=names.tolist()).fit(Source(X, names[y], EVEN))
    np.testing.assert_array_equal(model.classes_, names)
    enum = pl.Series(names[y], dtype=pl.Enum(names.tolist()))
    again = FixedMarginClassifier().fit(Source(X, enum, EVEN))
    np.testing.assert_array_equal(again.classes_, names)
    agree(again, model)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_free_intervals_that_do_not_cross(loss, monkeypatch):
    monkeypatch.setattr(_block_samples, "MOST_SAMPLED", 1000)
    X, y = draw(6000, K=3, noise=0.1, seed=4)
    model = ConvexHullRanker(C=0.5, intervals="free", loss=loss)
    agree(ConvexHullRanker(C=0.5, intervals="free", loss=loss).fit(Source(X, y, EVEN)), model.fit(X, y))


def test_rows_that_fit_into_memory_are_read_once():
    source = Source(X, y, EVEN, memory=10**9)
    model = FixedMarginClassifier().fit(source)
    assert source.reads == len(source)
    assert model.certificate_.passes == 1
    np.testing.assert_allclose(model.coef_, FixedMarginClassifier().fit(X, y).coef_, atol=1e-12)
    assert "passes       1" in repr(model.certificate_)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "most"), [("hinge", 6), ("squared_hinge", 4)])
def test_few_passes_where_memory_is_scarce(loss, most):
    big, grades = draw(300_000, 10, 5, noise=2.0)
    cuts = range(20_000, 300_000, 20_000)
    quarter = FixedMarginClassifier(loss=loss).fit(Source(big, grades, cuts, memory=big.nbytes // 4))
    scarce = FixedMarginClassifier(loss=loss).fit(Source(big, grades, cuts, memory=big.nbytes // 5000))
    assert quarter.certificate_.passes <= 4
    assert scarce.certificate_.passes <= most
    agree(quarter, scarce)


@pytest.mark.usefixtures("little_room")
def test_wrong_settlements_are_widened(monkeypatch):
    """A window a hundred times too narrow settles rows wrongly; the answer is the same."""
    from hullrank.solvers import _block_starts

    monkeypatch.setattr(_block_starts, "CAUTION", 0.015)
    X, y = draw(8000, K=2, seed=5)
    model = FixedMarginClassifier().fit(Source(X, y, range(800, 8000, 800)))
    agree(model, FixedMarginClassifier().fit(X, y))
    assert model.certificate_.passes > 3


@pytest.mark.usefixtures("little_room")
def test_what_blocks_cannot_do_says_so():
    source = Source(X, y, EVEN)
    with pytest.raises(HullrankError, match="leave out y"):
        FixedMarginClassifier().fit(source, y)
    with pytest.raises(HullrankError, match="kernel='linear'"):
        FixedMarginClassifier(kernel="rbf").fit(source)
    with pytest.raises(HullrankError, match="hard margin, which needs all rows in memory"):
        FixedMarginClassifier(np.inf).fit(source)
    with pytest.raises(LabelError, match="only one class"):
        FixedMarginClassifier().fit(Source(X, np.zeros(len(y), int), EVEN))
    bad = X.copy()
    bad[700, 1] = np.nan
    with pytest.raises(HullrankError, match=r"NaN or infinity in a block of the source at its row 200"):
        FixedMarginClassifier().fit(Source(bad, y, EVEN))


class Batches(Source):
    """A source of given batches."""

    def __init__(self, *batches, memory=1):
        self.batches, self.memory = batches, memory

    def __len__(self):
        return len(self.batches)

    def read(self, i):
        return (*self.batches[i], None, None)


@pytest.mark.parametrize("memory", [1, 10**9])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ((sp.csr_array(X), y), "some blocks of the source are sparse and others are dense"),
        ((X, y.astype(str)), "labels are words in some blocks of the source and numbers in others"),
        ((X.astype("U1") + "x", y), r"X has words in a block of the source .* encoder=TableEncoder\(\)"),
        ((X + 1j, y), "Complex data not supported"),
        ((np.ma.masked_less(X, 0), y), "X is masked at row"),
        ((X[:, 0], y), "it must have rows and columns"),
    ],
)
def test_blocks_that_do_not_go_together_say_so(other, said, memory):
    with pytest.raises(ValueError, match=said):
        FixedMarginClassifier().fit(Batches((X, y), other, memory=memory))


@pytest.mark.parametrize("memory", [1, 10**9])
def test_the_order_of_categories_is_joined_from_all_blocks(memory):
    pl = pytest.importorskip("polars")

    def grades(codes, *names):
        return pl.Series([names[code] for code in codes], dtype=pl.Enum(names))

    few, many = (X, grades(np.minimum(y, 1), "poor", "fair")), (X, grades(y, "poor", "fair", "good", "best"))
    for source in ((few, many), (many, few)):
        model = FixedMarginClassifier().fit(Batches(*source, memory=memory))
        assert model.classes_.tolist() == ["poor", "fair", "good", "best"]
    with pytest.raises(LabelError, match="order the categories of y differently"):
        FixedMarginClassifier().fit(Batches(many, (X, grades(y, "best", "good", "fair", "poor")), memory=memory))
    with pytest.raises(LabelError, match="no block says how all of them are ordered"):
        FixedMarginClassifier().fit(Batches(few, (X, grades(np.minimum(y, 1), "poor", "good")), memory=memory))


def test_blocks_are_not_rows_to_predict():
    source = Source(X, y, EVEN)
    with pytest.raises(HullrankError, match=r"X is a source of blocks.*X.read\(i\)\[0\]"):
        FixedMarginClassifier().fit(source).predict(source)


def test_a_source_that_changes_says_so(little_room):
    class Fickle(Source):
        def read(self, i):
            X, y, *rest = super().read(i)
            return (X, y + 10 * (self.reads > len(self)), *rest)

    with pytest.raises(HullrankError, match="same rows whenever it is read"):
        FixedMarginClassifier().fit(Fickle(X, y, EVEN))


def test_a_kernel_of_many_rows_is_certified_by_row():
    """Coordinates of a kernel's space are rows like others; the certificate is that of the kernel."""
    X, y = draw(12_000, 3, 3, seed=6)
    model = FixedMarginClassifier(0.1, kernel="rbf", approximation=30).fit(X, y)
    assert model.certificate_.status == "approximated"
    assert model.certificate_.solver == "interior point on unsettled rows"


def test_signs_of_many_rows():
    X, y = draw(12_000, 4, 3, seed=7)
    model = FixedMarginClassifier(monotonic_cst=[1, 1, 0, -1]).fit(X, y)
    assert model.certificate_.status == "converged"
    assert (model.coef_ * [1, 1, 0, -1] >= 0).all()


@pytest.mark.parametrize("tails", ["lognormal", "Cauchy"])
def test_heavy_tails_leave_few_rows_to_be_solved(tails):
    """Long rows have windows of their own: they do not widen those of others, and are not settled wrongly."""
    rng = np.random.default_rng(0)
    X = np.exp(1.5 * rng.normal(size=(24_000, 6))) if tails == "lognormal" else rng.standard_cauchy((24_000, 6))
    order = np.argsort(X @ rng.normal(size=6) + rng.standard_t(2, 24_000))
    y = np.digitize(np.argsort(order), [6000, 16_000])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for model in (FixedMarginClassifier(1.0, loss="hinge"), ConvexHullRanker(C=1.0, loss="hinge")):
        blocks = model.state(X, y).in_blocks(3000)
        solution = solve_in_blocks(blocks, Options(tol=1e-6))
        assert solution.status is Status.CONVERGED
        assert blocks.passes <= 6
        assert solution.evidence.near.layout.n_slacks < 0.5 * len(y)  # of about two a row


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize(
    "model", [FixedMarginClassifier(loss="hinge"), ConvexHullRanker("full", slack="edge", loss="hinge")]
)
def test_rows_that_are_almost_separable_leave_few_to_be_solved(model, noise):
    """Where hardly a row pays, a smoothed hinge leads astray: its window is then fetched, and not a far wider one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 10))
    y = np.digitize(X @ rng.normal(size=10) / 3 + noise * rng.normal(size=40_000), [-1.0, 0.0, 1.0])
    blocks = model.state(X, y).in_blocks(5000)
    solution = solve_in_blocks(blocks, Options(tol=1e-6))
    assert solution.status is Status.CONVERGED
    assert solution.evidence.near.layout.n_slacks < 0.5 * len(y)  # of three to six a row
    assert blocks.passes <= 6


def test_many_classes_leave_few_rows_to_be_solved():
    """Of the slacks at 29 thresholds most are near some kink at first; Newton steps narrow the window before any is
    fetched."""
    X, y = draw(30_000, 5, 30, seed=8)
    for loss in ("hinge", "squared_hinge"):
        blocks = FixedMarginClassifier(0.1, loss=loss).state(X, y).in_blocks(4000)
        solution = solve_in_blocks(blocks, Options(tol=1e-6, verbose=1))
        assert solution.status is Status.CONVERGED
        near = solution.evidence.near
        assert near is None or near.layout.n_slacks <= 0.25 * len(y)


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("model", [NuMarginClassifier(), SumOfMarginsClassifier()])
def test_margins_that_are_driven_leave_few_rows_to_be_solved(model, K):
    """The Newton step on smoothed kinks moves the margin of nu as well, so that the window after it is narrower."""
    X, y = draw(20_000, 8, K, seed=3)
    blocks = model.state(X, y).in_blocks(2500)
    solution = solve_in_blocks(blocks, Options(tol=1e-6))
    assert solution.status is Status.CONVERGED
    assert solution.evidence.near.layout.n_slacks < 0.15 * len(y)
    assert blocks.passes <= 4


@pytest.mark.parametrize(
    "model",
    [
        SampledPairsRanker(), PartialOddsClassifier(), PRank(), RankBoost(), InformativeVectorClassifier(),
        OrdinalCalibrator(FixedMarginClassifier()), FixedMarginClassifierCV([1.0]), SemiSupervised(ConvexHullRanker()),
        ExactRanker(), LinearRelaxationRanker(),
    ],
)  # fmt: skip
def test_estimators_that_take_no_blocks_say_which_do(model):
    source = Source(X, y, EVEN)
    for fit in (lambda: model.fit(source), lambda: model.fit(X=source), lambda: model.fit(source, None)):
        with pytest.raises(HullrankError, match=f"{type(model).__name__} takes no blocks.*FixedMarginClassifier"):
            fit()


@pytest.mark.parametrize("sparse", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "model",
    slow_after(
        2,
        [
            ConvexHullRanker(C=0.5, loss="hinge"),
            FixedMarginClassifier(0.5, loss="hinge"),
            FixedMarginClassifier(0.5, loss="hinge", thresholds="all"),
            ConvexHullRanker(C=0.5),
            NuMarginClassifier(0.8),
        ],
    ),
)
def test_equal_rows_are_held_as_one(model, sparse, little_room):
    """Columns with few different values put more rows at a kink than there is room for, but few different ones."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(8000, 3)))
    y = np.digitize(X @ [1, -1, 0.5] + 0.8 * rng.normal(size=8000), [-1, 0, 1])
    rows = sp.csr_array(X) if sparse else X
    a = model.fit(Source(rows, y, np.arange(1000, 8000, 1000)))
    passes = a.certificate_.passes
    primal, coef = a.certificate_.primal, a.coef_
    b = model.fit(rows, y)
    assert a.certificate_.status == "converged"
    assert passes <= 6
    assert abs(primal - b.certificate_.primal) <= 1e-6 * abs(b.certificate_.primal)
    np.testing.assert_allclose(coef, b.coef_, atol=0.02)


@pytest.mark.parametrize(
    ("model", "K", "most"),
    [
        (SumOfMarginsClassifier(), 5, 7),
        (SumOfMarginsClassifier(), 3, 7),
        (NuMarginClassifier(0.3), 3, 7),
        (NuMarginClassifier(), 3, 12),  # the drawn samples do have a ranking by chance
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_where_there_is_no_ranking_0_is_proven(model, K, most, sparse, little_room):
    """0 is optimal where nothing can be ranked: the median class for all, a warning, and a closed certificate."""
    X, y = draw(4000, 3, K, noise=3.0)
    y = np.random.default_rng(1).permutation(y)
    X = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0)) if sparse else X
    with pytest.warns(CollapsedRankingWarning):
        model.fit(Source(X, y, np.arange(500, 4000, 500)))
    assert model.certificate_.status == "converged"
    assert model.certificate_.primal == 0.0
    assert model.certificate_.passes <= most
    assert not model.coef_.any()
    assert set(model.predict(X)) == {K // 2}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("m", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_class_for_every_row(loss, m):
    X, _ = draw(m, 4)
    y = X @ [1.0, 2.0, -1.0, 0.5] + np.random.default_rng(1).normal(size=m)
    a = ConvexHullRanker(loss=loss).fit(Source(X, y, [m // 4, m // 2, 3 * m // 4], memory=X.nbytes // 4))
    b = ConvexHullRanker(loss=loss).fit(X, y)
    assert a.certificate_.status == b.certificate_.status == "converged"
    assert a.certificate_.passes <= 4
    assert abs(a.certificate_.primal / b.certificate_.primal - 1) <= 1e-6


@pytest.mark.parametrize(
    ("model", "K"),
    slow_after(1, [(ConvexHullRanker(loss="hinge"), 20), (NuMarginClassifier(), 20), (NuMarginClassifier(), 100)]),
)
def test_windows_for_which_there_is_no_room_narrow(model, K):
    """A smoothed step that rises is not taken again and again from the same point."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    s = X @ rng.normal(size=5) + 0.8 * rng.normal(size=6000)
    y = np.searchsorted(np.sort(s)[:: 6000 // K], s, side="right")
    model.fit(Source(X, y, np.arange(1000, 6000, 1000), memory=X.nbytes // 4))
    assert model.certificate_.status == "converged"
    assert model.certificate_.passes <= 5
