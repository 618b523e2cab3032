"""ExactRanker and LinearRelaxationRanker as scikit-learn users meet them."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import hullrank
import hullrank.models.exact as exact_models
from hullrank import ExactRanker, LinearRelaxationRanker, SwappedPairsRanker
from hullrank.exceptions import ConvergenceWarning, HullrankError, LabelError, NoComparablePairError
from hullrank.metrics import rank_statistic
from hullrank.problem.certificate import Status
from hullrank.problem.statistics import RankStatistic
from statements import two_classes as classes


@pytest.mark.slow
@parametrize_with_checks(
    [ExactRanker(max_cells=50), ExactRanker("dcg", max_cells=50), LinearRelaxationRanker(epsilon=0.1)]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.ConvergenceWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)


def test_value_is_the_training_statistic_and_beats_every_start():
    X, y = classes()
    ranker = ExactRanker().fit(X, y)
    certificate = ranker.certificate_
    assert certificate.status is Status.PROVEN_OPTIMAL
    assert certificate.value == certificate.upper_bound == pytest.approx(roc_auc_score(y, ranker.predict(X)))
    assert certificate.gap == 0.0
    rivals = [LogisticRegression().fit(X, y).decision_function(X)]
    rivals += [m.fit(X, y).predict(X) for m in (SwappedPairsRanker(C=100.0), LinearRelaxationRanker())]
    assert all(certificate.value >= roc_auc_score(y, scores) for scores in rivals)
    assert ranker.score(X, y) == pytest.approx(certificate.value)


@pytest.mark.parametrize("max_cells", [1, 10, 100])
def test_a_limit_never_falls_below_the_starts(max_cells):
    X, y = classes(60, 6, seed=3)
    with pytest.warns(ConvergenceWarning, match="max_cells"):
        ranker = ExactRanker(max_cells=max_cells).fit(X, y)
    starts = [LogisticRegression().fit(X, y).decision_function(X), LinearRelaxationRanker().fit(X, y).predict(X)]
    assert ranker.certificate_.status is Status.MAX_CELLS
    assert ranker.certificate_.value >= max(roc_auc_score(y, scores) for scores in starts) - 1e-12
    assert ranker.certificate_.value < ranker.certificate_.upper_bound


@pytest.mark.parametrize(
    "statistic", ["wrs", "wta", "mrr", "dcg", RankStatistic("partial_wmw", t=20), RankStatistic("pnorm", p=2)]
)
def test_every_statistic_is_proven_and_recounted(statistic):
    X, y = classes(30, 3, seed=1)
    ranker = ExactRanker(statistic).fit(X, y)
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL
    expected = RankStatistic.of(statistic).value(y == 1, ranker.predict(X))
    assert ranker.certificate_.value == pytest.approx(expected, rel=1e-12)
    assert ranker.certificate_.statistic == RankStatistic.of(statistic).name


def test_own_weights_and_the_metric_agree():
    X, y = classes(20, 3, seed=2)
    weights = np.r_[np.zeros(15), [1, 2, 2, 5, 9]]
    ranker = ExactRanker(weights).fit(X, y)
    assert ranker.certificate_.value == rank_statistic(y, ranker.predict(X), weights)
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL


@pytest.mark.parametrize("method", ["auto", "branch_and_bound", "sweep"])
def test_methods_agree_in_the_plane(method):
    X, y = classes(30, 2, seed=4)
    values = [ExactRanker(method=m).fit(X, y).certificate_.value for m in ("sweep", method)]
    assert values[0] == values[1]


def test_plane_search_and_mip_are_never_above_the_proof():
    X, y = classes(24, 3, seed=5)
    proven = ExactRanker().fit(X, y).certificate_
    search = ExactRanker(method="plane_search", max_cells=50).fit(X, y).certificate_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        program = ExactRanker(method="mip", time_limit=2).fit(X, y).certificate_
    assert search.value <= proven.value
    assert program.value <= proven.value
    assert program.status in (Status.TIME_LIMIT, Status.CONVERGED)
    assert "HiGHS" in program.guarantee


def test_a_false_claim_of_the_mip_is_reported(monkeypatch):
    from hullrank.exact import mip

    solve = mip.solve_mip

    def boastful(program, **options):
        answer = solve(program, **options)
        return type(answer)(answer.status, answer.x, answer.objective - 3.0, answer.row_duals, answer.bound - 3.0)

    monkeypatch.setattr(mip, "solve_mip", boastful)
    X, y = classes(12, 2, seed=6)
    with pytest.warns(ConvergenceWarning, match="HiGHS claimed"):
        ranker = ExactRanker(method="mip", time_limit=5).fit(X, y)
    assert ranker.certificate_.value == pytest.approx(roc_auc_score(y, ranker.predict(X)))
    assert ranker.certificate_.status is not Status.PROVEN_OPTIMAL
    assert "recounted statistic" in ranker.certificate_.remarks[0]


def test_graded_targets_and_queries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = np.round(X[:, 0] + rng.normal(size=24), 0)
    qid = np.repeat(["a", "b", "c"], 8)
    ranker = ExactRanker().fit(X, y, qid=qid)
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL
    assert ranker.score(X, y, qid=qid) == pytest.approx(ranker.certificate_.value)
    assert ranker.certificate_.value >= SwappedPairsRanker(C=100.0).fit(X, y, qid=qid).score(X, y, qid=qid)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["auc", "dcg"]))
def test_weights_repeat_rows_and_order_does_not_matter(seed, statistic):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(7, 3)).astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, 5)]
    weight = rng.integers(0, 3, 7)
    weight[:2] = 1
    weighted = ExactRanker(statistic).fit(X, y, sample_weight=weight)
    again = rng.permutation(np.repeat(np.arange(7), weight))
    repeated = ExactRanker(statistic).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-12)
    assert weighted.certificate_.value == repeated.certificate_.value


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_shift_scale_relabel_and_sparsity(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(8, 3)).astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, 6)]
    plain = ExactRanker().fit(X, y)
    assert ExactRanker().fit(X + np.array([1, -2, 4]), y).certificate_.value == plain.certificate_.value
    assert ExactRanker().fit(X * np.array([2.0, 0.5, 8.0]), y).certificate_.value == plain.certificate_.value
    assert ExactRanker().fit(X, 10 * y - 3).certificate_.value == plain.certificate_.value
    np.testing.assert_array_equal(ExactRanker().fit(sp.csr_matrix(X), y).coef_, plain.coef_)
    np.testing.assert_array_equal(ExactRanker().fit(X, y).coef_, plain.coef_)


def test_fractional_weights_multiply_in_pairs():
    X, y = classes(20, 3, seed=8)
    weight = np.random.default_rng(0).uniform(0.5, 2, 20)
    ranker = ExactRanker().fit(X, y, sample_weight=weight)
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL
    assert ranker.certificate_.value == pytest.approx(roc_auc_score(y, ranker.predict(X), sample_weight=weight))


def test_duplicated_rows_with_opposite_labels_are_errors():
    X = np.array([[0.0, 0], [0, 0], [1, 0], [0, 1]])
    ranker = ExactRanker().fit(X, [0, 1, 1, 0])
    assert ranker.certificate_.value == 0.75
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL


@pytest.mark.parametrize("method", ["auto", "sweep", "plane_search", "branch_and_bound", "mip"])
def test_pairs_that_all_cancel_leave_nothing_to_choose(method):
    X = np.array([[0.0, 1], [2, 3], [0, 1], [2, 3]])
    certificate = ExactRanker(method=method).fit(X, [0, 1, 1, 0]).certificate_
    assert certificate.value == 0.25
    assert certificate.status is Status.PROVEN_OPTIMAL


def test_separable_data_reach_one():
    X, y = classes(30, 4, noise=0.0)
    assert ExactRanker().fit(X, y).certificate_.value == 1.0


@pytest.mark.parametrize("suffix", ["mps", "lp"])
@pytest.mark.parametrize("statistic", ["auc", "dcg"])
def test_written_program_has_the_optimum_of_the_data(tmp_path, suffix, statistic):
    import highspy

    X = np.array([[0.0, 0], [1, 2], [2, 1], [3, 3], [4, 0], [0, 4]])
    y = [0, 0, 1, 1, 1, 0]
    ranker = ExactRanker(statistic)
    ranker.write_mip(tmp_path / f"model.{suffix}", X, y)
    assert not hasattr(ranker, "n_features_in_")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / f"model.{suffix}"))
    solver.run()
    constant = 0.0 if statistic == "auc" else 3 * RankStatistic("dcg").weights(6)[0]
    best = ranker.fit(X, y).certificate_.value * (9 if statistic == "auc" else 1)
    assert constant - solver.getInfo().objective_function_value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(
    ("params", "X", "y", "fit", "error", "match"),
    [
        ({}, [[1.0, 2], [3, 4]], [1, 1], {}, NoComparablePairError, "one class"),
        ({}, [[1.0, 2], [1, 2]], [0, 1], {}, HullrankError, "equal"),
        ({"statistic": "dcg"}, [[1.0], [1]], [0, 1], {}, HullrankError, "equal"),
        ({"statistic": "dcg"}, [[1.0], [2], [3]], [0, 1, 2], {}, LabelError, "3 classes"),
        ({"statistic": "mrr"}, [[1.0], [2]], [0, 1], {"qid": [0, 1]}, HullrankError, "qid"),
        ({"statistic": "mrr"}, [[1.0], [2]], [0, 1], {"sample_weight": [0.5, 1]}, HullrankError, "whole numbers"),
        ({"statistic": [3.0, 2.0]}, [[1.0], [2]], [0, 1], {}, HullrankError, "must not decrease"),
        ({"statistic": [1.0, 2.0, 3.0]}, [[1.0], [2]], [0, 1], {}, HullrankError, "3 weights"),
        ({"statistic": "ndcg"}, [[1.0], [2]], [0, 1], {}, ValueError, "statistic"),
        ({"time_limit": 0}, [[1.0], [2]], [0, 1], {}, ValueError, "time_limit"),
        ({"max_cells": 0}, [[1.0], [2]], [0, 1], {}, ValueError, "max_cells"),
        ({"epsilon": 0.0}, [[1.0], [2]], [0, 1], {}, ValueError, "epsilon"),
        ({}, [[np.nan], [2]], [0, 1], {}, ValueError, "NaN"),
        ({"method": "sweep"}, np.eye(5), [0, 1, 0, 1, 1], {}, HullrankError, "span 4 dimensions"),
    ],
)
def test_bad_input_is_named(params, X, y, fit, error, match):
    with pytest.raises(error, match=match):
        ExactRanker(**params).fit(X, y, **fit)


def test_too_large_programs_are_refused():
    X = np.random.default_rng(0).normal(size=(800, 3))
    with pytest.raises(HullrankError, match="160,000 binary"):
        ExactRanker(method="mip", max_cells=1).fit(X, np.arange(800) % 2)


def test_too_many_pairs_are_refused_before_memory_is_taken():
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    with pytest.raises(HullrankError, match="sample of"):
        ExactRanker().fit(X, np.arange(20_000) % 2)


def test_ranker_is_a_citizen():
    X, y = classes(40, 2)
    ranker = ExactRanker(random_state=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copy.predict(X), ranker.predict(X))
    assert not hasattr(clone(ranker), "coef_")
    assert np.isfinite(cross_val_score(ExactRanker(), X, y, cv=3)).all()
    assert "recounted exactly" in repr(ranker.certificate_)


def test_failed_fit_leaves_the_ranker_as_it_was(monkeypatch):
    X, y = classes(20, 3)
    ranker = ExactRanker().fit(X, y)
    before = ranker.coef_
    monkeypatch.setattr(exact_models, "solve_exact", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ranker.fit(-X, y)
    assert ranker.coef_ is before


@pytest.mark.parametrize("size", [1e12, 1e20])
@pytest.mark.parametrize("flip", [False, True])
def test_an_outlier_does_not_hide_the_other_pairs(size, flip):
    X, y = classes(60, 3)
    X[5, 0] = size
    y = 1 - y if flip else y
    ranker = ExactRanker(time_limit=20).fit(X, y)
    alone = max(roc_auc_score(y, X[:, 0]), roc_auc_score(y, -X[:, 0]))
    assert ranker.certificate_.value >= alone
    assert ranker.score(X, y) == pytest.approx(ranker.certificate_.value, abs=1e-15)


@pytest.mark.parametrize("size", [1e-95, 1e95])
@pytest.mark.parametrize("statistic", ["auc", "dcg"])
def test_extreme_units_change_nothing(size, statistic):
    X, y = classes(30, 3)
    plain, scaled = (ExactRanker(statistic).fit(Z, y) for Z in (X, X * size))
    assert scaled.certificate_.status is Status.PROVEN_OPTIMAL
    assert scaled.certificate_.value == plain.certificate_.value
    assert scaled.score(X * size, y) == plain.score(X, y)


@pytest.mark.parametrize("size", [1e-90, 1e90])
def test_extreme_weights_change_nothing(size):
    X, y = classes(30, 3)
    weights = np.random.default_rng(0).integers(1, 4, 30)
    plain, scaled = (ExactRanker().fit(X, y, sample_weight=w) for w in (weights, weights * size))
    assert scaled.certificate_.value == pytest.approx(plain.certificate_.value, rel=1e-12)
    assert scaled.score(X, y, weights * size) == pytest.approx(scaled.certificate_.value, rel=1e-12)


@pytest.mark.parametrize("estimator", [ExactRanker(), ExactRanker("dcg"), LinearRelaxationRanker()])
def test_the_grade_follows_from_statement_and_candidate(estimator):
    X, y = classes(30, 3)
    model = clone(estimator).fit(X, y)
    statement = clone(estimator).state(X, y)
    point = model.candidate(statement)
    w = point.coef
    np.testing.assert_array_equal(w, model.coef_)
    if isinstance(model, LinearRelaxationRanker):
        assert statement.objective(point) == model.certificate_.primal >= model.certificate_.dual
    else:
        assert float(statement.recount(w) / statement.total) == model.certificate_.value
    with pytest.raises(HullrankError, match="3 weights"):
        model.candidate(clone(estimator).state(X[:, :2], y))


def test_a_false_word_of_the_solver_is_not_stored(monkeypatch):
    X, y = classes(30, 3)
    solve = exact_models.solve_exact

    def boastful(*args, **kwargs):
        answer = solve(*args, **kwargs)
        return replace(answer, w=np.array([0.0, 0.0, 1.0]))

    monkeypatch.setattr(exact_models, "solve_exact", boastful)
    with pytest.warns(ConvergenceWarning):
        ranker = ExactRanker().fit(X, y)
    assert ranker.certificate_.status is not Status.PROVEN_OPTIMAL
    assert ranker.certificate_.value == pytest.approx(roc_auc_score(y, X[:, 2]))
    assert ranker.certificate_.upper_bound > ranker.certificate_.value


@pytest.mark.slow
def test_scoring_system_and_its_card():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, size=(200, 4)), columns=["a", "b", "c", "d"])
    y = (X.to_numpy() @ [2, -1, 1, 0] + rng.logistic(size=200) > 1).astype(int)
    ranker = ExactRanker(weights="integer", max_weight=3, max_features=3, monotonic_cst={"b": -1}).fit(X, y)
    table = ranker.score_table_
    assert ranker.certificate_.status is Status.PROVEN_OPTIMAL
    assert dict(zip(table.features, table.points, strict=True)) == {
        name: int(w) for name, w in zip(X.columns, ranker.coef_, strict=True) if w
    }
    totals = ranker.predict(X)
    for low, high, count, positive in zip(table.low, table.high, table.count, table.positive, strict=True):
        inside = (totals >= low) & (totals <= high)
        assert inside.sum() == count
        assert y[inside].sum() == positive
    assert sum(table.count) == 200
    assert "points" in repr(table)
    assert not hasattr(clone(ranker).set_params(weights="real").fit(X, y), "score_table_")
    many = ExactRanker(weights="integer", time_limit=1).fit(*classes(200, 2)).score_table_
    assert len(many.count) <= 10
    assert sum(many.count) == 200


@pytest.mark.slow
def test_scoring_systems_and_statistics_are_saved(tmp_path):
    X, y = classes(40, 2)
    X = np.round(X, 1)
    for ranker in (
        ExactRanker(RankStatistic("partial_wmw", t=5)).fit(X, y),
        ExactRanker(np.arange(40.0)).fit(X, y),
        ExactRanker(weights="integer", max_weight=2).fit(X, y),
    ):
        hullrank.io.save(ranker, tmp_path / "model.hull")
        again = hullrank.io.load(tmp_path / "model.hull")
        np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
        assert again.certificate_ == ranker.certificate_
        assert getattr(again, "score_table_", None) == getattr(ranker, "score_table_", None)


def test_relaxation_is_certified_and_close_to_the_svm():
    X, y = classes(100, 4)
    ranker = LinearRelaxationRanker().fit(X, y)
    assert abs(ranker.certificate_.relative_gap) <= 1e-9
    svm = SwappedPairsRanker(C=1e6).fit(X, y)
    assert ranker.score(X, y) == pytest.approx(svm.score(X, y), abs=0.01)
    assert np.abs(ranker.coef_).max() <= 1.0
