"""Bad input to the class-based estimators: an error names the offending thing and leaves the estimator as it was."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    OrderGraph,
    SumOfMarginsClassifier,
)
from hullrank.exceptions import (
    CyclicOrderError,
    HullrankError,
    InfeasibleParameterError,
    LabelError,
    NotSeparableError,
    UndeclaredOrderWarning,
)

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
y = np.array([0, 0, 1, 1, 2, 2])
CLASSIFIERS = [FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier]
ESTIMATORS = [ConvexHullRanker, *CLASSIFIERS]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)


def spoiled(value):
    Z = X.astype(type(value))
    Z[2, 0] = value
    return Z


DATA = {
    "NaN": (spoiled(np.nan), y, None, ValueError, "X contains NaN"),
    "infinity": (spoiled(np.inf), y, None, ValueError, "X contains infinity"),
    "NaN in sparse X": (sp.csr_array(spoiled(np.nan)), y, None, ValueError, "X contains NaN"),
    "complex X": (spoiled(1j), y, None, ValueError, "Complex data not supported"),
    "one-dimensional X": (X.ravel(), y, None, ValueError, "Expected 2D array, got 1D array"),
    "three-dimensional X": (X[None], y, None, ValueError, "dim 3"),
    "words in X": (np.full((6, 1), "far"), y, None, ValueError, "far"),
    "no rows": (np.empty((0, 1)), [], None, ValueError, "0 sample"),
    "no columns": (np.empty((6, 0)), y, None, ValueError, "0 feature"),
    "one class": (X, np.full(6, 7), None, LabelError, "only one class, 7"),
    "one class of positive weight": (X, [4, 4, 4, 4, 9, 9], [1, 1, 1, 1, 0, 0], LabelError, "only one class, 4"),
    "short y": (X, y[:4], None, ValueError, r"\[6, 4\]"),
    "no y": (X, None, None, ValueError, "y is None"),
    "two columns of y": (X, np.c_[y, y], None, ValueError, r"\(6, 2\)"),
    "NaN in y": (X, [0, 0, np.nan, 1, 2, 2], None, LabelError, "nan at row 2"),
    "infinity in y": (X, [0, 0, 1, np.inf, 2, 2], None, LabelError, "inf at row 3"),
    "None in y": (X, np.array(["a", None, "b", "a", "b", "b"], object), None, LabelError, "None at row 1"),
    "complex y": (X, y * 1j, None, LabelError, "y is complex"),
    "mixed labels": (X, np.array(["a", 1, "b", "a", 1, "b"], object), None, LabelError, "cannot be ordered"),
    "negative weight": (X, y, [1, 1, -2, 1, 1, 1], HullrankError, r"negative \(-2.0\) at row 2"),
    "zero weights": (X, y, np.zeros(6), HullrankError, "sample_weight is zero everywhere"),
    "NaN weight": (X, y, [1, 1, 1, np.nan, 1, 1], HullrankError, "sample_weight contains NaN or infinity at row 3"),
    "infinite weight": (
        X,
        y,
        [1, 1, 1, 1, np.inf, 1],
        HullrankError,
        "sample_weight contains NaN or infinity at row 4",
    ),
    "few weights": (X, y, [1, 2], HullrankError, r"sample_weight has shape \(2,\), X has 6 rows"),
    "wide weights": (X, y, np.ones((6, 2)), HullrankError, r"sample_weight has shape \(6, 2\)"),
    "words as weights": (X, y, ["much"] * 6, HullrankError, "sample_weight is not numeric"),
    "complex weights": (X, y, np.ones(6) * 1j, HullrankError, "sample_weight is not numeric"),
}


@every_estimator
@pytest.mark.parametrize("case", DATA)
def test_bad_data_are_named(estimator, case):
    X_bad, y_bad, weights, error, message = DATA[case]
    model = estimator()
    with pytest.raises(error, match=message):
        model.fit(X_bad, y_bad, sample_weight=weights)
    assert vars(model) == estimator().get_params()


@pytest.mark.slow
@every_estimator
@pytest.mark.parametrize("case", DATA)
def test_a_failed_refit_changes_nothing(estimator, case):
    X_bad, y_bad, weights, error, _ = DATA[case]
    model = estimator().fit(X, y)
    before, scores = dict(vars(model)), model.score_samples(X)
    with pytest.raises(error):
        model.fit(X_bad, y_bad, sample_weight=weights)
    assert vars(model) == before
    np.testing.assert_array_equal(model.score_samples(X), scores)


DECLARED = {
    "a class without a sample": ([0, 1, 2, 3], "without a sample.*3"),
    "a label that is not declared": ([0, 1], "not in the declared order: 2"),
    "a class named twice": ([0, 1, 1, 2], "names 1 twice"),
}


@every_estimator
@pytest.mark.parametrize("case", DECLARED)
def test_declared_classes_must_fit(estimator, case):
    classes, message = DECLARED[case]
    with pytest.raises(LabelError, match=message):
        estimator(classes=classes).fit(X, y)


@every_estimator
def test_rows_without_weight_do_not_declare_a_class(estimator):
    with pytest.raises(LabelError, match=r"without a sample.*2"):
        estimator(classes=[0, 1, 2]).fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])


@every_estimator
def test_strings_without_order_warn_and_show_the_cure(estimator):
    words = np.array(["lo", "mid", "hi"])[y]
    with pytest.warns(
        UndeclaredOrderWarning, match=r"hi < lo < mid.*classes=\['hi', 'lo', 'mid'\], put into the right order"
    ):
        estimator().fit(X, words)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_half_stars_need_declared_grades(estimator):
    stars = np.array([0.5, 1.0, 1.5])[y]
    with pytest.raises(LabelError, match=r"0\.5.*classes=.*Categorical.*discretize"):
        estimator().fit(X, stars)
    assert estimator(classes=[0.5, 1.0, 1.5]).fit(X, stars).classes_.tolist() == [0.5, 1.0, 1.5]


PARAMETERS = [
    (ConvexHullRanker, {"C": 0}, "'C'"),
    (ConvexHullRanker, {"C": -1.0}, "'C'"),
    (ConvexHullRanker, {"C": np.nan}, "'C'"),
    (ConvexHullRanker, {"loss": "huber"}, "'loss'.*'huber'"),
    (ConvexHullRanker, {"intervals": "open"}, "'intervals'.*'open'"),
    (ConvexHullRanker, {"slack": "pair"}, "'slack'.*'pair'"),
    (ConvexHullRanker, {"penalty": "l3"}, "'penalty'.*'l3'"),
    (FixedMarginClassifier, {"C": 0}, "'C'"),
    (FixedMarginClassifier, {"thresholds": "some"}, "'thresholds'.*'some'"),
    (FixedMarginClassifier, {"class_weight": "fair"}, "'class_weight'.*'fair'"),
    (NuMarginClassifier, {"nu": -0.1}, "'nu'"),
    (NuMarginClassifier, {"nu": "best"}, "'nu'.*'best'"),
    (SumOfMarginsClassifier, {"C": np.inf}, "'C'"),
    (SumOfMarginsClassifier, {"C": "best"}, "'C'.*'best'"),
] + [
    (estimator, bad, name)
    for estimator in ESTIMATORS
    for bad, name in (({"tol": 0.0}, "'tol'"), ({"max_iter": 0}, "'max_iter'"), ({"verbose": "loud"}, "'verbose'"))
]


@pytest.mark.parametrize(("estimator", "parameters", "message"), PARAMETERS)
def test_unknown_parameter_values_are_named(estimator, parameters, message):
    model = estimator(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("weights", "message"),
    [({9: 1.0}, "0, 1, 2"), ({0: -1.0}, "class 0 the weight -1"), ({1: 0.0}, "class 1 the weight 0"),
     ({2: np.nan}, "class 2 the weight nan")],
)  # fmt: skip
@pytest.mark.parametrize("estimator", [ConvexHullRanker, FixedMarginClassifier])
def test_bad_class_weights_are_named(estimator, weights, message):
    with pytest.raises(ValueError, match=message):
        estimator(class_weight=weights).fit(X, y)


ORDERS = {
    "a cycle as text": ("0 < 1 < 2 < 0", CyclicOrderError, "0 < 1 < 2 < 0"),
    "a cycle of edges": ([(0, 1), (1, 2), (2, 0)], CyclicOrderError, "0 < 1 < 2 < 0"),
    "a class without a sample": ("0 < 1 < 2 < 3", LabelError, "without a sample: '3'"),
    "a class that is not in the graph": ("0 < 1", LabelError, "missing from the order graph: 2"),
    "a number": (3, LabelError, "order=3 is no order"),
    "an unknown name": ("zigzag", LabelError, "order='zigzag' is no order"),
    "nothing": ([], LabelError, r"order=\[\] is no order"),
    "no edges": (OrderGraph.from_levels([[0, 1, 2]]), LabelError, "no edges"),
}


@pytest.mark.parametrize("case", ORDERS)
def test_bad_orders_are_named(case):
    order, error, message = ORDERS[case]
    ranker = ConvexHullRanker(order)
    with pytest.raises(error, match=message):
        ranker.fit(X, y)
    assert not hasattr(ranker, "coef_")


def test_classes_against_the_order_are_an_error():
    with pytest.raises(LabelError, match="0 < 1"):
        ConvexHullRanker("0 < 1 < 2", classes=[2, 1, 0]).fit(X, y)


HARD = [
    ConvexHullRanker(C=np.inf),
    ConvexHullRanker(C=np.inf, loss="hinge"),
    ConvexHullRanker(C=np.inf, intervals="free"),
    ConvexHullRanker(C=np.inf, slack="edge"),
    ConvexHullRanker(C=np.inf, penalty="l1"),
    FixedMarginClassifier(np.inf),
    FixedMarginClassifier(np.inf, thresholds="all"),
]


@pytest.mark.parametrize("model", HARD)
@pytest.mark.filterwarnings("error")
def test_inseparable_data_name_a_violated_pair(model):
    pair = r"row 2 \(class 0\) cannot be placed below row 1 \(class 1\)"
    with pytest.raises(NotSeparableError, match=pair):
        model.fit(X, [0, 1, 0, 1, 2, 2])


@pytest.mark.filterwarnings("error")
def test_a_violated_pair_has_its_row_numbers_in_X_and_follows_an_edge():
    rows = np.vstack([[[9.0]], X])
    with pytest.raises(NotSeparableError, match=r"row 3 \(class 0\) cannot be placed below row 2 \(class 1\)"):
        FixedMarginClassifier(np.inf).fit(rows, [5, 0, 1, 0, 1, 2, 2], sample_weight=[0, 1, 1, 1, 1, 1, 1])
    fork = [(0, 1), (0, 2)]  # 1 and 2 cannot be compared, so they may overlap
    ConvexHullRanker(fork, C=np.inf).fit(X, [0, 0, 1, 2, 1, 2])
    with pytest.raises(NotSeparableError, match=r"row 2 \(class 0\) cannot be placed below row 1 \(class 2\)"):
        ConvexHullRanker(fork, C=np.inf).fit(X, [0, 2, 0, 1, 1, 2])


def test_infeasible_parameters_give_the_range():
    with pytest.raises(InfeasibleParameterError, match=r"nu=5 .*use 0 < nu <= 1, or nu='auto'"):
        NuMarginClassifier(5).fit(X, y)
    with pytest.raises(InfeasibleParameterError, match=r"C=1e-09 is too small.*use 0.5 <= C < inf, or C='auto'"):
        SumOfMarginsClassifier(1e-9).fit(X, y)
    with pytest.raises(InfeasibleParameterError, match=r"C=1e\+09 is too large.*use 0.5 <= C < 0.5556, or C='auto'"):
        SumOfMarginsClassifier(1e9).fit(X, [0, 1, 2, 0, 1, 2])


@every_estimator
def test_prediction_checks_its_rows(estimator):
    with pytest.raises(NotFittedError, match=estimator.__name__):
        estimator().score_samples(X)
    model = estimator().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(np.c_[X, X])
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(spoiled(np.nan))
