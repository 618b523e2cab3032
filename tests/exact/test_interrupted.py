"""Ctrl-C and progress in every phase of an exact search: the best value and a bound that holds are kept and shown."""

import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from hullrank import ExactRanker
from hullrank._progress import listening_to_bounds
from hullrank.exact import _scoring_loops
from hullrank.exact.branch_and_bound import BranchAndBound
from hullrank.exact.lattice import LatticeSearch
from hullrank.exact.lattice_program import DirectionProgram
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exceptions import ConvergenceWarning


def answers(m, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(m, d)).astype(float)
    return X, (X @ rng.normal(size=d) + rng.logistic(size=m) > 0).astype(int)


def levels(m, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(m, d)).astype(float)
    return X, (X @ rng.normal(size=d) / 20 + rng.logistic(size=m) > 0).astype(int)


PHASES = {
    "lattice": (DirectionProgram, "solve", {"method": "lattice"}, answers(150, 5)),
    "lattice of auto": (DirectionProgram, "solve", {}, answers(150, 5)),
    "scoring": (_scoring_loops, "search_weights", {"weights": "integer"}, answers(150, 5)),
    "few features": (LatticeSearch, "run", {"max_features": 3}, answers(150, 5)),
    "branch and bound": (BranchAndBound, "run", {"method": "branch_and_bound"}, levels(60, 3)),
    "plane search": (PlaneSearch, "run_within", {"method": "plane_search", "max_cells": 60}, levels(60, 3)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "call"),
    [
        *((phase, 1) for phase in PHASES),
        ("lattice", 2),
        ("lattice of auto", 2),
        ("few features", 5),
        ("plane search", 3),
    ],
)
def test_ctrl_c_keeps_a_right_value_and_a_bound_that_holds(monkeypatch, phase, call):
    where, name, parameters, (X, y) = PHASES[phase]
    finished = {key: value for key, value in parameters.items() if key not in ("method", "max_cells")}
    optimum = ExactRanker(**finished).fit(X, y).certificate_
    assert optimum.status == "proven_optimal"
    original, calls = getattr(where, name), []

    def interrupted(*arguments, **options):
        calls.append(None)
        if len(calls) == call:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(where, name, interrupted)
    ranker = ExactRanker(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker.fit(X, y)
    certificate = ranker.certificate_
    assert certificate.status == "interrupted"
    assert certificate.value <= optimum.value <= certificate.upper_bound
    assert certificate.value == pytest.approx(ranker.score(X, y))
    assert certificate.value > 0.5
    assert np.count_nonzero(ranker.coef_) <= parameters.get("max_features", X.shape[1])
    assert "weights" not in parameters or (ranker.coef_ == np.rint(ranker.coef_)).all()
    assert ranker.trace_[-1][1:] == (certificate.value, certificate.upper_bound)


@pytest.mark.parametrize("parameters", [{"weights": "integer", "max_weight": 2}, {"max_features": 2}])
@pytest.mark.parametrize("signs", [None, [-1, -1, 0, 0, 0]])
def test_a_limit_met_before_the_search_still_keeps_the_rule(parameters, signs):
    X, y = answers(150, 5)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        ranker = ExactRanker(**parameters, monotonic_cst=signs, time_limit=1e-9).fit(X, y)
    w = ranker.coef_
    assert w.any()
    assert np.count_nonzero(w) <= parameters.get("max_features", 5)
    assert signs is None or (np.array(signs) * w >= 0).all()
    assert "weights" not in parameters or ((w == np.rint(w)) & (np.abs(w) <= 2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_tells_value_and_bound(phase, capsys):
    _, _, parameters, (X, y) = PHASES[phase]
    heard = []
    with listening_to_bounds(lambda *told: heard.append(told)):
        ranker = ExactRanker(**parameters, verbose=1).fit(X, y)
    certificate = ranker.certificate_
    value, bound, share = heard[-1]
    assert (value, bound) == pytest.approx((certificate.value, certificate.upper_bound))
    assert 0 <= share <= 1
    values, bounds = np.array(heard).T[:2]
    assert (values <= bounds + 1e-12).all()
    assert f"value {certificate.value:.10g}" in capsys.readouterr().out


SEARCH = """
import sys, time, warnings
import numpy as np
from hullrank import ExactRanker

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.integers(0, 2, (1000, 8)).astype(float)
y = (X @ rng.normal(size=8) + 2 * rng.normal(size=1000) > 0).astype(int)
ExactRanker(**{parameters}, time_limit=1).fit(X[:50], y[:50])
print("compiled", flush=True)
ranker = ExactRanker(**{parameters}, time_limit=None).fit(X, y)
print(ranker.certificate_.status, ranker.certificate_.value, ranker.certificate_.upper_bound)
"""


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"method": "lattice"}, {"weights": "integer", "max_weight": 9}])
def test_a_real_ctrl_c_is_heard_soon(parameters):
    """In a process of its own, which Ctrl-C may end."""
    script = SEARCH.replace("{parameters}", repr(parameters))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as search:
        assert search.stdout.readline() == "compiled\n"
        time.sleep(0.7)
        search.send_signal(signal.SIGINT)
        begin = time.perf_counter()
        status, value, bound = search.communicate(timeout=60)[0].split()
    assert time.perf_counter() - begin < 10
    assert status == "interrupted"
    assert 0.5 < float(value) <= float(bound) <= 1
