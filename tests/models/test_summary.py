"""A summary shows the model's own numbers, with errors that refits by hand and fresh samples confirm."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    RankBoost,
    SwappedPairsRanker,
    summarise,
)
from hullrank.exceptions import HullrankError
from hullrank.io import TableEncoder
from hullrank.metrics import wmw_score
from hullrank.models.influence import permutation_influence

NAMES = ["age", "size", "noise"]


def sample(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X @ [1.0, -0.6, 0] + 0.7 * rng.normal(size=n), [-0.6, 0.6])


X, Y = sample(0)


def test_without_data_the_numbers_of_the_model():
    model = FixedMarginClassifier().fit(pd.DataFrame(X, columns=NAMES), Y)
    summary = model.summary()
    table = summary.coefficients
    assert list(table) == ["feature", "weight"]
    assert dict(zip(table["feature"], table["weight"], strict=True)) == dict(zip(NAMES, model.coef_, strict=True))
    sizes = np.abs(table["weight"])
    assert (np.diff(sizes) <= 0).all()
    assert summary.classes["threshold above"] == [*model.thresholds_, None]
    assert summary.classes["margin above"][:2] == pytest.approx([2.0, 2.0])  # the fixed margin is 1 on either side
    assert summary.classes["distance above"][:2] == pytest.approx([2 / np.linalg.norm(model.coef_)] * 2)
    assert summary.n_resamples == 0
    assert str(model.certificate_) in str(summary)


def test_errors_are_those_of_refits_by_hand():
    model = ConvexHullRanker().fit(X, Y)
    summary = model.summary(X, Y, n_resamples=12, level=0.8, random_state=3, names=NAMES)
    rng, coefs, thresholds = np.random.default_rng(3), [], []
    for _ in range(12):
        rows = np.concatenate([rng.choice(np.flatnonzero(c == Y), np.sum(c == Y)) for c in range(3)])
        again = ConvexHullRanker().fit(X[rows], Y[rows])
        coefs.append(again.coef_)
        thresholds.append(again.thresholds_)
    frame = summary.to_frame().set_index("feature").loc[NAMES]
    np.testing.assert_allclose(frame["standard error"], np.std(coefs, axis=0, ddof=1), rtol=1e-4)
    np.testing.assert_allclose(frame["low"], np.quantile(coefs, 0.1, axis=0), rtol=1e-4)
    np.testing.assert_allclose(frame["high"], np.quantile(coefs, 0.9, axis=0), rtol=1e-4)
    errors = summary.to_frame("classes")["threshold error"][:2]
    np.testing.assert_allclose(errors, np.std(thresholds, axis=0, ddof=1), rtol=1e-4)


@pytest.mark.slow
def test_errors_are_near_the_spread_over_fresh_samples():
    fresh = np.std([ConvexHullRanker().fit(*sample(seed, 400)).coef_ for seed in range(1, 201)], axis=0, ddof=1)
    errors = []
    for seed in range(300, 306):
        data = sample(seed, 400)
        summary = ConvexHullRanker().fit(*data).summary(*data, n_resamples=60, names=NAMES)
        errors.append(summary.to_frame().set_index("feature").loc[NAMES, "standard error"])
    np.testing.assert_allclose(np.mean(errors, axis=0), fresh, rtol=0.2)  # six data sets: their mean varies by 5 %


def test_whole_queries_are_drawn_and_stay_apart(monkeypatch):
    qid, seen = np.repeat(np.arange(25), 6), []
    fit = SwappedPairsRanker.fit

    def watched(self, X, y, *, qid=None, **given):
        seen.append((X, qid))
        return fit(self, X, y, qid=qid, **given)

    model = SwappedPairsRanker().fit(X, Y, qid=qid)
    monkeypatch.setattr(SwappedPairsRanker, "fit", watched)
    assert model.summary(X, Y, qid=qid, n_resamples=5).n_resamples == 5
    assert len(seen) == 5
    for rows, queries in seen:
        assert np.array_equal(queries, np.repeat(np.arange(25), 6))
        first = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
        assert np.array_equal(np.reshape(first, (25, 6)) // 6, np.repeat(qid[first[::6]], 6).reshape(25, 6))


def test_pipelines_words_and_real_targets():
    frame, words = pd.DataFrame(X, columns=NAMES), np.array(["low", "mid", "top"])[Y]
    pipeline = make_pipeline(StandardScaler().set_output(transform="default"), ConvexHullRanker("low < mid < top"))
    summary = summarise(pipeline.fit(frame, words), frame, words, n_resamples=5)
    assert sorted(summary.coefficients["feature"]) == sorted(NAMES)
    assert summary.classes["class"] == ["low", "mid", "top"]
    real = X @ [1.0, -0.6, 0]
    summary = SwappedPairsRanker().fit(X, real).summary(X, real, n_resamples=5)
    assert summary.classes == {}
    assert len(summary.coefficients["low"]) == 3
    assert ConvexHullRanker().fit(X, real).summary(X, real, n_resamples=3).n_resamples == 3


def test_kernel_models_and_stumps_have_influence_instead():
    model = FixedMarginClassifier(kernel="rbf").fit(X, Y)
    summary = model.summary(X, Y, names=NAMES)
    assert summary.coefficients == {}
    assert summary.influences["feature"][0] == "age"
    assert summary.influences["feature"][-1] == "noise"
    assert "shuffled" in str(summary)
    assert RankBoost(weak_rankers="thresholds", n_rounds=5).fit(X, Y).summary(X, Y).influences["feature"][0] == "x0"


def test_influence_by_hand_for_arrays_and_frames():
    model = ConvexHullRanker().fit(X, Y)
    fall, deviation = permutation_influence(model, X, Y, n_repeats=3, seed=1)
    rng = np.random.default_rng(1)
    shuffles = [rng.permutation(len(X)) for _ in range(3)]
    best = wmw_score(Y, X @ model.coef_)
    for j in range(3):
        lost = []
        for rows in shuffles:
            moved = X.copy()
            moved[:, j] = X[rows, j]
            lost.append(best - wmw_score(Y, moved @ model.coef_))
        assert fall[j] == pytest.approx(np.mean(lost))
        assert deviation[j] == pytest.approx(np.std(lost))
    frame = pd.DataFrame(X, columns=NAMES)
    words = frame.assign(word="a")
    encoded = make_pipeline(TableEncoder(), ConvexHullRanker(kernel="rbf")).fit(words, Y)
    assert summarise(encoded, words, Y).influences["feature"] == ["age", "size", "noise", "word"]
    again = permutation_influence(ConvexHullRanker().fit(frame, Y), frame, Y, n_repeats=3, seed=1)
    np.testing.assert_allclose(again[0], fall)


def test_what_cannot_be_summarised_is_said():
    model = ConvexHullRanker().fit(X, Y)
    with pytest.raises(HullrankError, match="both X and y"):
        model.summary(X)
    with pytest.raises(HullrankError, match="level"):
        model.summary(X, Y, level=95)
    with pytest.raises(HullrankError, match="2 names for 3 weights"):
        model.summary(names=["a", "b"])
    with pytest.raises(HullrankError, match="no table 'weights'"):
        model.summary().to_frame("weights")


def test_hostile_names_stay_text_in_notebooks():
    shown = ConvexHullRanker().fit(X, Y).summary(names=["<script>alert(1)</script>", "b", "c"])._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
