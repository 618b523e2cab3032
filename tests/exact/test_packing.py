"""Packed sets of pairs: none of them can be won whole, none share a pair, and the bound holds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from cases import slow_after
from hullrank import ExactRanker
from hullrank.exact._simplex_loops import cannot_all_be_won
from hullrank.exact.clock import Clock
from hullrank.exact.packing import Packing
from hullrank.exact.statement import state_pairs
from hullrank.exceptions import ConvergenceWarning


def packed(n, d, seed, kind="continuous", weight=None, noise=2.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n, d)).astype(float) if kind == "levels" else rng.normal(size=(n, d))
    if kind == "one-hot":  # the last three columns add up to 1
        X[:, -3:] = np.eye(3)[rng.integers(0, 3, n)]
    score = X[:, 0] + noise * rng.normal(size=n)
    y = (score > np.median(score)).astype(np.int64)
    weight = np.ones(n) if weight is None else rng.choice(weight, n)
    arrangement = state_pairs(X, y, weight, np.zeros(n, dtype=np.int64)).arrangement
    rank = d - (kind == "one-hot")
    packing = Packing(arrangement, arrangement.D.T @ arrangement.weight, rank, seed)
    packing.run(Clock(), 60.0, 3)
    return X, y, weight, arrangement, packing


@pytest.mark.parametrize(
    ("d", "kind", "weight"),
    slow_after(
        2,
        [
            (3, "continuous", (1.0, 2.0, 5.0)),
            (5, "one-hot", None),
            (2, "continuous", None),
            (5, "continuous", (0.3, 1.7)),
            (3, "levels", None),
        ],
    ),
)
def test_no_direction_wins_a_whole_set_and_sets_share_no_more_than_the_weights(d, kind, weight):
    *_, arrangement, packing = packed(60, d, 0, kind, weight)
    assert len(packing.sets) > 10
    rng = np.random.default_rng(1)
    for number in rng.permutation(len(packing.sets))[:100]:
        D = arrangement.D[packing.sets[number][packing.sets[number] >= 0]]
        free = [(None, None)] * d
        assert linprog(np.zeros(d), A_ub=-D, b_ub=-np.ones(len(D)), bounds=free).status == 2  # infeasible
    left = arrangement.weight.copy()
    losses = 0.0
    for members in packing.sets:  # what each set took is the least that was left of its pairs
        amount = left[members[members >= 0]].min()
        assert amount > 0
        left[members[members >= 0]] -= amount
        losses += amount
    assert packing.losses == pytest.approx(losses, rel=1e-12)


@pytest.mark.parametrize("seed", slow_after(2, range(8)))
@pytest.mark.parametrize("kind", ["continuous", "levels"])
@pytest.mark.parametrize("weight", [None, (1.0, 3.0)])
def test_the_bound_is_not_below_the_optimum(seed, kind, weight):
    X, y, weight, arrangement, packing = packed(40, 3, seed, kind, weight)
    optimum = ExactRanker().fit(X, y, sample_weight=weight).certificate_
    assert optimum.status == "proven_optimal"
    assert packing.losses > 0
    total = weight[y == 0].sum() * weight[y == 1].sum()
    assert arrangement.top - packing.losses >= optimum.value * total - 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_not_below_the_best_that_is_found_among_groups(seed):
    X, y, weight, arrangement, packing = packed(40, 5, seed, "one-hot", (1.0, 3.0))
    search = ExactRanker(method="plane_search", max_cells=300).fit(X, y, sample_weight=weight)
    assert packing.losses > 0
    total = weight[y == 0].sum() * weight[y == 1].sum()
    assert arrangement.top - packing.losses >= search.certificate_.value * total - 1e-9


def test_pairs_that_vanish_in_some_columns_make_smaller_sets():
    *_, packing = packed(200, 6, 0, "one-hot")
    sizes = (packing.sets >= 0).sum(axis=1)
    assert sizes.max() == 6
    assert sizes.min() == 4  # three columns beside the groups
    assert np.bincount(sizes)[4] > 100


def test_equal_seeds_pack_alike_and_wider_choices_pack_more():
    *_, arrangement, packing = packed(150, 6, 0, noise=0.3)
    assert packed(150, 6, 0, noise=0.3)[-1].losses == packing.losses
    once = Packing(arrangement, arrangement.D.T @ arrangement.weight, 6, 0)
    once.run(Clock(), 60.0, 1)
    assert 0 < once.losses < packing.losses


def test_simplices_around_zero_by_more_than_rounding():
    corner = np.vstack([np.eye(3), -np.ones(3)])
    assert cannot_all_be_won(corner)
    assert cannot_all_be_won(np.hstack([corner, np.zeros((4, 1))]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), [-1.0, -1.0, 1e-14]]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), [-1.0, -1.0, 0.1]]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), -np.ones(3), -np.ones(3)]))
    assert not cannot_all_be_won(np.array([[1.0, 1e-16], [1.0, -1e-16], [-1.0, 0.0]]))
    assert not cannot_all_be_won(np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]]))


@pytest.mark.parametrize("d", [2, 5, 9])
def test_simplices_against_linear_programs(d):
    rng = np.random.default_rng(d)
    answers = set()
    for _ in range(80):
        D = rng.normal(size=(d + 1, d))
        if rng.random() < 0.5:
            D[-1] = -rng.random(d) @ D[:-1]
        program = linprog(np.zeros(d), A_ub=-D, b_ub=-np.ones(d + 1), bounds=[(None, None)] * d)
        assert cannot_all_be_won(D) == (program.status == 2)
        answers.add(bool(program.status == 2))
    assert answers == {True, False}


@pytest.mark.slow
def test_many_dimensions_have_a_bound_below_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = (X[:, 0] + 2 * rng.normal(size=200) > 0).astype(int)
    with pytest.warns(UserWarning, match="before a proof"):
        certificate = ExactRanker(time_limit=4).fit(X, y).certificate_
    assert certificate.value < certificate.upper_bound < 0.95


def test_ctrl_c_in_a_later_pass_keeps_the_bound_of_the_passes_before_it(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 7)), rng.integers(0, 2, 100)
    bounds, whole = [], Packing._pass

    def interrupted(packing, *arguments):
        if bounds:
            raise KeyboardInterrupt
        losses, sets = whole(packing, *arguments)
        bounds.append(1 - losses / (y.sum() * (1 - y).sum()))
        return losses, sets

    monkeypatch.setattr(Packing, "_pass", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        ranker = ExactRanker(time_limit=600).fit(X, y)
    certificate = ranker.certificate_
    assert certificate.status == "interrupted"
    assert certificate.upper_bound == pytest.approx(bounds[0])
    assert certificate.value < bounds[0] < 1
    assert certificate.upper_bound in [bound for _, _, bound in ranker.trace_]


def test_exchanged_members_still_contradict_each_other_and_are_clearer_wins(monkeypatch):
    *_, arrangement, packing = packed(150, 6, 0)
    exchanged = packing._pass(Clock(), np.inf, 2000)[1]
    monkeypatch.setattr("hullrank.exact.packing._DEAR", 0)  # all members cost the same, so none are exchanged
    kept = packing._pass(Clock(), np.inf, 2000)[1]
    assert all(cannot_all_be_won(arrangement.D[members]) for members in exchanged)
    first = slice(0, 20)  # later sets have only what the sets before them left
    assert packing._scores[exchanged[first]].mean() > packing._scores[kept[first]].mean()
