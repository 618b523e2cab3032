"""How an exact search ends before its proof: Ctrl-C, a limit of time or of cells, a gap that is small enough."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hullrank import ExactRanker
from hullrank.exceptions import ConvergenceWarning
from hullrank.problem.certificate import Status
from statements import two_classes as classes


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_so_far():
    X, y = classes(150, 7, seed=9)
    with pytest.warns(ConvergenceWarning, match="max_cells"):
        ExactRanker(max_cells=400).fit(*classes(60, 7))  # Numba, which may lose the signal, compiles here
    timer = threading.Timer(0.8, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            ranker = ExactRanker(time_limit=40).fit(X, y)
    finally:
        timer.cancel()
    certificate = ranker.certificate_
    assert certificate.status is Status.INTERRUPTED
    assert certificate.seconds < 30
    assert certificate.value == pytest.approx(roc_auc_score(y, ranker.predict(X)))
    assert certificate.value < certificate.upper_bound <= 1.0


def test_time_limit_and_trace():
    X, y = classes(150, 8, seed=9)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        ranker = ExactRanker(time_limit=0.5).fit(X, y)
    seconds, values, bounds = map(np.array, zip(*ranker.trace_, strict=True))
    assert ranker.certificate_.status is Status.TIME_LIMIT
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(values) >= -1e-12).all()
    assert (np.diff(bounds) <= 1e-12).all()
    assert values[-1] == pytest.approx(ranker.certificate_.value)
    assert bounds[-1] == pytest.approx(ranker.certificate_.upper_bound)


def test_gap_tol_stops_early():
    X, y = classes(80, 5, seed=10)
    ranker = ExactRanker(gap_tol=0.1).fit(X, y)
    assert ranker.certificate_.status in (Status.CONVERGED, Status.PROVEN_OPTIMAL)
    assert ranker.certificate_.gap <= 0.1
    assert ranker.certificate_.cells < ExactRanker().fit(X, y).certificate_.cells


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "parameters"),
    [
        (3000, 6, {"time_limit": 1}),
        (2000, 5, {"statistic": "dcg", "time_limit": 1}),
        (300, 200, {"method": "plane_search", "time_limit": 1}),
        (50, 10_000, {"time_limit": 1}),
    ],
)
def test_time_limits_hold_in_every_phase(n, d, parameters):
    """Seconds of this process, which others do not take from it."""
    ExactRanker("dcg").fit(*classes(20, 3))
    X, y = classes(n, d, seed=2)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ExactRanker(**parameters).fit(X, y)
    assert time.process_time() - begin < 2 * (parameters["time_limit"] + 1)  # two threads


def test_no_time_limit():
    X, y = classes(40, 3)
    assert ExactRanker(time_limit=None).fit(X, y).certificate_.status is Status.PROVEN_OPTIMAL
