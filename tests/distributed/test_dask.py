"""Estimators on Dask, with two processes: the same answers as in memory, whatever happens to blocks and workers."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hullrank
from hullrank.exceptions import HullrankError, ModelFileError
from hullrank.io import load, save
from hullrank.reports.certifying import certify

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
from dask import delayed  # noqa: E402
from dask.distributed import Client, LocalCluster  # noqa: E402

from hullrank import distributed  # noqa: E402
from hullrank.models import _block_samples  # noqa: E402

pytestmark = pytest.mark.slow  # it starts processes, and kills one
NAMES = ["ConvexHullRanker", "FixedMarginClassifier", "NuMarginClassifier", "SumOfMarginsClassifier"]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def data(m=12_000, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) + 1
    y = np.digitize(X @ rng.normal(size=n) + 0.3 * rng.normal(size=m), [-1, 0.5, 2])
    return X, y, rng.random(m) + 0.5


def in_dask(X, y, rows=1500):
    return da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(y, chunks=rows)


@pytest.mark.parametrize("name", NAMES)
def test_same_solution_as_in_memory(client, name):
    X, y, _ = data()
    dX, dy = in_dask(X, y)
    model = getattr(distributed, f"Dask{name}")().fit(dX, dy)
    local = getattr(hullrank, name)().fit(X, y)
    assert model.certificate_.status == "converged"
    assert model.certificate_.passes <= 6
    assert_allclose(model.certificate_.primal, local.certificate_.primal, rtol=2e-6)
    scores = model.score_samples(dX)
    assert isinstance(scores, da.Array)
    assert_allclose(scores.compute(), model.to_local().score_samples(X))
    assert type(model.to_local()) is getattr(hullrank, name)
    assert_allclose(np.corrcoef(scores.compute(), local.score_samples(X))[0, 1], 1, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_pairs_in_queries_and_over_ranks(client, loss):
    X, y, weights = data()
    qid = np.arange(len(y)) // 10
    dX, dy = in_dask(X, y)
    given = {"sample_weight": da.from_array(weights, chunks=1500), "qid": da.from_array(qid, chunks=1500)}
    model = distributed.DaskSwappedPairsRanker(5.0, loss=loss).fit(dX, dy, **given)
    local = hullrank.SwappedPairsRanker(5.0, loss=loss).fit(X, y, sample_weight=weights, qid=qid)
    assert_allclose(model.certificate_.primal, local.certificate_.primal, rtol=2e-6)
    with pytest.raises(HullrankError, match=r'shuffle\(on="qid"\)'):
        distributed.DaskSwappedPairsRanker().fit(dX, dy, qid=da.from_array(qid % 100, chunks=1500))


def test_sparse_weighted_and_classes_in_words(client):
    X, y, weights = data()
    X = np.where(X > 1, X, 0.0)
    words = np.array(["low", "mid", "high", "top"])[y]
    dX = da.from_array(X, chunks=(1500, 4)).map_blocks(sp.csr_array, dtype=float)
    dy, dw = da.from_array(words, chunks=1500), da.from_array(weights, chunks=1500)
    options = {"classes": ["low", "mid", "high", "top"], "class_weight": "balanced"}
    model = distributed.DaskFixedMarginClassifier(**options).fit(dX, dy, sample_weight=dw)
    local = hullrank.FixedMarginClassifier(**options).fit(X, words, sample_weight=weights)
    assert_allclose(model.certificate_.primal, local.certificate_.primal, rtol=2e-6)
    predicted = model.predict(da.from_array(X, chunks=(1500, 4))).compute()
    assert np.mean(predicted == local.predict(X)) > 0.999


def test_data_frames_with_blocks_of_unknown_size(client):
    pd = pytest.importorskip("pandas")
    X, y, _ = data()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=6)
    frame = frame[frame["a"] > frame["a"].min()]
    model = distributed.DaskConvexHullRanker().fit(frame[list("abcd")], frame["y"])
    assert model.feature_names_in_.tolist() == list("abcd")
    whole = frame.compute()
    local = hullrank.ConvexHullRanker().fit(whole[list("abcd")], whole["y"])
    assert_allclose(model.certificate_.primal, local.certificate_.primal, rtol=2e-6)
    scores = model.score_samples(frame[list("abcd")])
    assert_allclose(scores.compute(), model.to_local().score_samples(whole[list("abcd")]))
    arrays = frame[list("abcd")].to_dask_array(), frame["y"].to_dask_array()
    again = distributed.DaskConvexHullRanker().fit(*arrays)
    assert_allclose(again.certificate_.primal, model.certificate_.primal, rtol=2e-6)


def test_empty_blocks_and_blocks_of_one_class(client):
    X, y, _ = data()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    sizes = (0, 3000, 0, 3000, 1, 5999, 0)
    dX, dy = da.from_array(X, chunks=(12_000, 4)), da.from_array(y, chunks=12_000)
    dX = da.concatenate([dX[a : a + k] for a, k in zip(np.cumsum((0, *sizes[:-1])), sizes, strict=True)])
    dy = da.concatenate([dy[a : a + k] for a, k in zip(np.cumsum((0, *sizes[:-1])), sizes, strict=True)])
    model = distributed.DaskFixedMarginClassifier().fit(dX, dy)
    local = hullrank.FixedMarginClassifier().fit(X, y)
    assert_allclose(model.certificate_.primal, local.certificate_.primal, rtol=2e-6)
    assert model.predict(dX).compute().shape == y.shape


def test_errors_of_a_task_reach_the_user_as_themselves(client):
    X, y, _ = data()
    X[7000, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        distributed.DaskConvexHullRanker().fit(*in_dask(X, y))
    X[7000, 2] = 0.0
    with pytest.raises(HullrankError, match="takes no qid"):
        distributed.DaskConvexHullRanker().fit(*in_dask(X, y), qid=y)
    with pytest.raises(HullrankError, match="give a Dask array"):
        distributed.DaskConvexHullRanker().fit(X, y)
    for short in (y[:-1], da.from_array(y[:-1], chunks=3000)):
        with pytest.raises(HullrankError, match="X has 12,000 rows, and y has 11,999"):
            distributed.DaskConvexHullRanker().fit(in_dask(X, y)[0], short)
    unknown = da.from_array(y, chunks=3000)
    unknown = unknown[unknown >= 0]
    with pytest.raises(HullrankError, match="y has 4 blocks, and X has 8"):
        distributed.DaskConvexHullRanker().fit(in_dask(X, y)[0], unknown)
    with pytest.raises(HullrankError, match="the target y is None"):
        distributed.DaskConvexHullRanker().fit(in_dask(X, y)[0])
    with pytest.raises(HullrankError, match=r"client is a dask.distributed.Client, and was 'tcp://nowhere'"):
        distributed.DaskConvexHullRanker(client="tcp://nowhere").fit(*in_dask(X, y))


def test_without_a_client_the_error_says_how_to_make_one(monkeypatch):
    def none():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("hullrank.distributed.estimators.get_client", none)
    X, y, _ = data(m=100)
    with pytest.raises(HullrankError, match=r"make one first, as by client = dask.distributed.Client\(\)"):
        distributed.DaskFixedMarginClassifier().fit(*in_dask(X, y))


def test_cells_that_are_no_numbers(client):
    pandas = pytest.importorskip("pandas")
    X, y, _ = data(m=3000)
    table = pandas.DataFrame(X, columns=list("abcd")).assign(y=y, colour=pandas.Categorical(["red", "blue"] * 1500))
    frame = dd.from_pandas(table, npartitions=3)
    with pytest.raises(HullrankError, match=r"no numbers \(.*get_dummies\(X.categorize\(\)\)"):
        distributed.DaskFixedMarginClassifier().fit(frame[["a", "colour"]], frame["y"])
    dummies = dd.get_dummies(frame.drop(columns="y").categorize())
    model = distributed.DaskFixedMarginClassifier().fit(dummies, frame["y"])
    assert model.feature_names_in_.tolist() == [*"abcd", "colour_blue", "colour_red"]
    table["a"] = table["a"].astype("Float64").where(table["a"] > 0)
    frame = dd.from_pandas(table, npartitions=3)
    with pytest.raises(HullrankError, match="NaN or infinity"):
        distributed.DaskFixedMarginClassifier().fit(frame[["a", "b"]], frame["y"])


def test_predictions_say_at_once_that_columns_are_wrong(client):
    pandas = pytest.importorskip("pandas")
    X, y, _ = data(m=3000)
    with pytest.raises(NotFittedError):
        distributed.DaskFixedMarginClassifier().predict(in_dask(X, y)[0])
    frame = dd.from_pandas(pandas.DataFrame(X, columns=list("abcd")), npartitions=2)
    model = distributed.DaskFixedMarginClassifier().fit(frame, dd.from_pandas(pandas.Series(y), npartitions=2))
    with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
        model.predict(frame[["a", "b"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame.assign(e=1.0))
    with pytest.raises(ValueError, match="X has 3 features"):
        distributed.DaskFixedMarginClassifier().fit(*in_dask(X, y)).predict(in_dask(X[:, :3], y)[0])


def _slow(block):
    time.sleep(0.05)
    return block


def test_a_killed_worker_is_recomputed(client):
    X, y, _ = data()
    dX, dy = in_dask(X, y, 750)
    lazy = da.concatenate([da.from_delayed(delayed(_slow)(part), (750, 4), float) for part in dX.to_delayed().ravel()])
    alone = distributed.DaskFixedMarginClassifier().fit(lazy, dy)
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(0.25, os.kill, (victim, signal.SIGKILL))
    timer.start()
    model = distributed.DaskFixedMarginClassifier().fit(lazy, dy)
    timer.join()
    assert victim not in client.run(os.getpid).values()
    assert_allclose(model.coef_, alone.coef_, rtol=1e-12)


def test_nothing_of_the_size_of_the_data_travels(client, monkeypatch):
    """What comes back from a pass is a sample, sums, and the few rows near their kink."""
    monkeypatch.setattr(_block_samples, "MOST_SAMPLED", 10_000)
    sizes = []
    gather = Client.gather

    def measured(self, futures, *args, **options):
        found = gather(self, futures, *args, **options)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(Client, "gather", measured)
    X, y, _ = data(m=300_000)
    distributed.DaskFixedMarginClassifier(loss="hinge").fit(*in_dask(X, y, 50_000))
    assert max(sizes) < 0.2 * X.nbytes


def test_parameters_clones_and_files(client, tmp_path):
    model = distributed.DaskSwappedPairsRanker(3.0, loss="logistic", client=client)
    assert model.get_params()["C"] == 3.0
    copy = clone(model)
    assert copy.client is client
    assert copy.get_params()["loss"] == "logistic"
    X, y, _ = data(m=3000)
    copy.fit(*in_dask(X, y))
    assert pickle.loads(pickle.dumps(copy)).client is None
    local = copy.to_local()
    assert_array_equal(local.coef_, copy.coef_)
    assert "client" not in local.get_params()
    with pytest.raises(ModelFileError, match=r"save model.to_local\(\)"):
        save(copy, tmp_path / "m.hull")
    save(local, tmp_path / "m.hull")
    assert_array_equal(load(tmp_path / "m.hull").score_samples(X), copy.score_samples(X))
    assert certify(local, X, y).holds


def test_bootstrap_errors_of_training_data_in_memory(client):
    X, y, _ = data(m=300)
    model = distributed.DaskFixedMarginClassifier().fit(*in_dask(X, y, 100))
    found, local = (each.summary(X, y, n_resamples=10, random_state=0) for each in (model, model.to_local()))
    assert str(found) == str(local)
