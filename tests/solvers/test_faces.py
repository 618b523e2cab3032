"""The search over faces: its slow way alone, on hard correlations, against a conic solver."""

import numpy as np
import pytest

import conic
from cases import slow_after
from hullrank import ConvexHullRanker, SwappedPairsRanker
from hullrank.solvers.base import Options
from hullrank.solvers.faces import FaceSearch

CHAIN = [(0, 1), (1, 2)]


def collinear(seed, m=60, n=12):
    """Features that are nearly combinations of three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3)) @ rng.normal(size=(3, n)) + 0.05 * rng.normal(size=(m, n))
    return X, np.digitize(X[:, 0] + rng.normal(size=m), [-0.5, 0.5]), rng.choice([1, -1], size=n)


@pytest.mark.parametrize("seed", slow_after(1, range(4)))
def test_columns_one_by_one_reach_the_optimum_from_no_column_at_all(seed):
    X, y, signs = collinear(seed)
    for model, truth in (
        (ConvexHullRanker(C=10.0), lambda: conic.hull(X, y, CHAIN, 10.0, intervals="proper", signs=signs)),
        (
            SwappedPairsRanker(C=10.0),
            lambda: conic.pairs(X, y, 10.0, weights=np.ones(60), qid=np.zeros(60), signs=signs),
        ),
    ):
        search = FaceSearch(model.set_params(monotonic_cst=signs).state(X, y), Options(1e-6))
        search.visit(np.zeros(12, dtype=bool), None)
        search.one_by_one()
        assert search.best.gap <= 1e-6
        assert search.statement.objective(search.best.allowed) == pytest.approx(truth(), rel=2e-6)


@pytest.mark.parametrize("seed", slow_after(5, range(20)))
def test_blocks_alone_or_followed_by_single_columns_end_with_a_proof(seed):
    X, y, signs = collinear(seed, n=25)
    for loss in ("hinge", "squared_hinge"):
        assert ConvexHullRanker(C=10.0, loss=loss, monotonic_cst=signs).fit(X, y).certificate_.status == "converged"


def test_an_interrupted_face_keeps_the_best_allowed_point(monkeypatch):
    from hullrank.solvers import faces

    X, y, signs = collinear(0)
    solve, calls = faces.solve, []

    def interrupted(statement, options, start):
        calls.append(statement)
        solution = solve(statement, options, start)
        return solution if len(calls) < 2 else faces.replace(solution, status=faces.Status.INTERRUPTED)

    monkeypatch.setattr(faces, "solve", interrupted)
    with pytest.warns(UserWarning, match="face by face ended with status 'interrupted'"):
        model = ConvexHullRanker(C=10.0, monotonic_cst=signs, tol=1e-12).fit(X, y)
    assert len(calls) == 2
    assert (signs * model.coef_ >= 0).all()
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.certificate_.primal)
