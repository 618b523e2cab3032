"""Figure 3 of Fung, Rosales and Krishnapuram: hull ranking against all pairs and the informative vector machine."""

from itertools import product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from hullrank.baselines.informative_vectors import InformativeVectorClassifier
from hullrank.datasets import discretize
from hullrank.experiments.base import Cell, Experiment, Record, Report, Results, ResultTable, emphasised, grid_of_cells
from hullrank.experiments.data import SEED, load_sheet, standardise
from hullrank.experiments.figures import bars_with_ranges, new_figure, rank_figure
from hullrank.experiments.published import HULL
from hullrank.experiments.statistics import average_ranks, corrected_t_test, holm, in_words
from hullrank.experiments.tuning import choose
from hullrank.metrics import swapped_pairs
from hullrank.models.hull import ConvexHullRanker
from hullrank.models.pairs import SwappedPairsRanker

HULLS: dict[str, dict[str, Any]] = {
    "free chain": {"order": "chain", "intervals": "free"},
    "free full": {"order": "full", "intervals": "free"},
    "proper": {"order": "chain", "intervals": "proper"},
    "edge chain": {"order": "chain", "slack": "edge"},
    "edge full": {"order": "full", "slack": "edge"},
}
FREE = ("free chain", "free full")
OURS = ("proper", "edge chain", "edge full")
PAIRS, IVM = "all pairs", "IVM"
RIVALS = {"linear": (PAIRS,), "rbf": (PAIRS, IVM)}
METHODS = {kernel: (*FREE, *OURS, *rivals) for kernel, rivals in RIVALS.items()}
QUICK = ("diabetes", "noisy scores")
FOLDS = 10
LOSSES = ("squared_hinge", "hinge")
PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.1, 0.3, 1.0, 3.0)  # gamma times the number of features
TUNING_ROWS = 600  # with the Gaussian kernel; a line is fitted fast enough to use all rows
BASIS = 300  # samples that span the IVM, and a kernel solution where there are more rows than
LARGE = 5000


class Point(NamedTuple):
    """A point of the grid: how slack is charged, its price for a sample, and gamma times the number of features."""

    loss: str = "squared_hinge"
    price: float = 1.0
    width: float = 1.0


def cells(quick: bool) -> list[Cell]:
    """Nine data sets x ten folds x all methods with both kernels."""
    methods = [f"{kernel}: {method}" for kernel, methods in METHODS.items() for method in methods]
    return grid_of_cells(2 if quick else FOLDS, QUICK if quick else HULL, methods, quick=quick)


def build(method: str, kernel: str, point: Point, y: NDArray[Any], n: int, tol: float) -> Any:
    """The model of a method for m targets y; the price of the mean pair is m times that of a sample's slack."""
    if method == IVM:
        return InformativeVectorClassifier(BASIS, random_state=0)
    m = len(y)
    options: dict[str, Any] = {"loss": point.loss, "kernel": kernel, "gamma": point.width / n, "tol": tol}
    if kernel != "linear" and m > LARGE:
        options["approximation"] = BASIS
    if method == PAIRS:
        return SwappedPairsRanker(C=point.price * m, **options)
    return ConvexHullRanker(C=point.price, class_weight=grade_weights(method, y), **HULLS[method], **options)


def grade_weights(method: str, y: NDArray[Any]) -> dict[Any, float] | None:
    """Weights of the grades, of mean 1 over samples, by which every pair of grades counts alike.

    Along an edge the margin that a pair lacks is at most the sum of its two slacks, so that the mean over the pairs of
    an edge is at most the sum of its grades' mean slacks: a sample weighs 1 / (size of its grade) on every edge. With
    proper intervals its one slack stands for all other grades if its interval has one end, and for half of them on
    average if it has two. The paper's problem (free intervals) has no weights.
    """
    if method in FREE:
        return None
    grades, counts = np.unique(y, return_counts=True)
    weights = len(y) / (len(grades) * counts)
    if method == "proper":
        weights[1:-1] /= 2
        weights *= len(y) / (weights @ counts)
    return dict(zip(grades.tolist(), weights.tolist(), strict=True))


def run(cell: Cell) -> Record:
    """Choose charge, C and gamma inside the training part, fit, and count the pairs of the test part ranked right."""
    kernel, method = cell.method.split(": ")
    sheet = load_sheet(cell.dataset)
    y = discretize(sheet.y, 5)
    folds = KFold(FOLDS, shuffle=True, random_state=SEED).split(sheet.X)
    train, test = next(split for fold, split in enumerate(folds) if fold == cell.trial)
    X, Z = standardise(sheet.X[train], sheet.X[test])
    point = _chosen(method, kernel, X, y[train], cell)
    model = build(method, kernel, point, y[train], X.shape[1], 1e-4)
    begin = process_time()
    model.fit(X, y[train])
    cost = process_time() - begin
    accuracy = 1 - swapped_pairs(y[test], model.score_samples(Z))
    return {"accuracy": accuracy, "fit": cost, **point._asdict(), "ratio": len(test) / len(train)}


def _chosen(method: str, kernel: str, X: NDArray[Any], y: NDArray[Any], cell: Cell) -> Point:
    """The same grid for every method, but for the paper's one charge; the IVM maximises its likelihood instead."""
    if method == IVM:
        return Point()
    losses = LOSSES[:1] if method in FREE else LOSSES
    prices, widths = (PRICES[1::2], WIDTHS[2:3]) if cell.quick else (PRICES, WIDTHS)
    grid = [Point(*p) for p in product(losses, prices, widths if kernel == "rbf" else (1.0,))]

    def fit(point: Point, X: Any, y: NDArray[Any]) -> Any:
        return build(method, kernel, point, y, X.shape[1], 1e-3).fit(X, y).score_samples

    folds = 2 if cell.quick else 5
    most = 150 if cell.quick else TUNING_ROWS if kernel == "rbf" else None
    return choose(grid, fit, X, y, swapped_pairs, folds=folds, seed=cell.trial, most=most)


def report(results: Results, quick: bool) -> Report:
    """Accuracy with its whole range, cost, and the tests, for both kernels."""
    protocol = (
        "Targets are cut into five equal-frequency grades. Pair accuracy (generalised Wilcoxon-Mann-Whitney over all "
        "ordered grade pairs) on the test part of 10-fold cross-validation: mean, and the whole range over folds. "
        "The charge of a slack (squared or hinge), C (5 values) and for the Gaussian kernel gamma (4 values) are "
        "chosen for every fold by 5-fold cross-validation on the training part (with the Gaussian kernel on at most "
        f"{TUNING_ROWS} of its rows), the same grid for every method; the IVM maximises its likelihood instead. "
        f"Above {LARGE} rows kernel solutions are spanned by {BASIS} samples; the IVM takes in {BASIS} everywhere.",
        "'free' is the paper's problem, squared slacks alone and no weights. 'proper' keeps L <= U (chain and full "
        "graph then coincide), 'edge' gives every edge its own threshold and slacks; in both the grades are weighed so "
        "that every pair of grades counts alike, as in the pairs themselves. Seconds are CPU time of the fit at the "
        "chosen parameters.",
    )
    tables, figures, findings = [], {}, []
    for kernel, methods in METHODS.items():
        keys = [f"{kernel}: {method}" for method in methods]
        names = results.datasets(QUICK if quick else HULL, keys)
        accuracy = {name: results.paired(name, keys, "accuracy") for name in names}
        seconds = {name: results.paired(name, keys, "fit") for name in names}
        ratios = {name: results.paired(name, keys[:1], "ratio").mean() for name in names}
        tables += [_accuracy(kernel, accuracy), _seconds(kernel, seconds)]
        figures[f"hull-{kernel}"] = _figure(kernel, accuracy, seconds)
        tests = _against_rivals(kernel, accuracy, ratios)
        tables.append(_tests(kernel, tests))
        findings += _findings(kernel, accuracy, tests)
        if len(names) > 1:
            figures[f"hull-{kernel}-ranks"] = rank_figure([v.mean(axis=0) for v in accuracy.values()], methods)
    return Report("Convex-hull ranking", protocol, tables, figures, findings)


def _title(name: str) -> str:
    return HULL.get(name, name)


def _accuracy(kernel: str, accuracy: dict[str, NDArray[Any]]) -> ResultTable:
    rows = []
    for name, v in accuracy.items():
        texts = [f"{c.mean():.4f} ({c.min():.3f}-{c.max():.3f})" for c in v.T]
        rows.append((_title(name), *emphasised(texts, v.mean(axis=0))))
    title = f"Pair accuracy, {kernel} kernel: mean (lowest-highest fold)"
    return ResultTable(f"hull-{kernel}-accuracy", title, ("data set", *METHODS[kernel]), rows)


def _seconds(kernel: str, seconds: dict[str, NDArray[Any]]) -> ResultTable:
    rows = [(_title(name), *(f"{x:.4f}" for x in np.median(v, axis=0))) for name, v in seconds.items()]
    title = f"Seconds of a fit, {kernel} kernel: median over folds"
    return ResultTable(f"hull-{kernel}-seconds", title, ("data set", *METHODS[kernel]), rows)


def _against_rivals(
    kernel: str, accuracy: dict[str, NDArray[Any]], ratios: dict[str, float]
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """(data set, ours, rival) -> (mean difference, p-value adjusted over the data sets and rivals of that method)."""
    methods = METHODS[kernel]
    tests: dict[tuple[str, str, str], tuple[float, float]] = {}
    for ours in OURS:
        keys, gains, p_values = [], [], []
        for name, v in accuracy.items():
            for rival in RIVALS[kernel]:
                difference = v[:, methods.index(ours)] - v[:, methods.index(rival)]
                keys.append((name, ours, rival))
                gains.append(float(difference.mean()))
                p_values.append(corrected_t_test(difference, ratios[name]))
        tests |= dict(zip(keys, zip(gains, holm(p_values), strict=True), strict=True))
    return tests


def _tests(kernel: str, tests: dict[tuple[str, str, str], tuple[float, float]]) -> ResultTable:
    columns = [f"{ours} - {rival}" for ours in OURS for rival in RIVALS[kernel]]
    rows = []
    for name in dict.fromkeys(key[0] for key in tests):
        found = [tests[name, ours, rival] for ours in OURS for rival in RIVALS[kernel]]
        rows.append((_title(name), *(f"{gain:+.4f} ({in_words(p)})" for gain, p in found)))
    return ResultTable(
        f"hull-{kernel}-tests",
        f"Difference in pair accuracy, {kernel} kernel",
        ("data set", *columns),
        rows,
        ("Corrected resampled t-test; p-values adjusted by Holm's method over the comparisons of a method.",),
    )


def _findings(
    kernel: str, accuracy: dict[str, NDArray[Any]], tests: dict[tuple[str, str, str], tuple[float, float]]
) -> list[str]:
    means = np.array([v.mean(axis=0) for v in accuracy.values()])
    if not len(means):
        return []
    methods = METHODS[kernel]
    ranks = ", ".join(f"{m} {r:.2f}" for m, r in zip(methods, average_ranks(means), strict=True))
    found = [f"{kernel}: average ranks over {len(means)} data sets: {ranks}."]
    for ours in OURS:
        worse = [
            f"{_title(d)} ({rival})"
            for (d, o, rival), (gain, p) in tests.items()
            if o == ours and gain < 0 and p < 0.05
        ]
        better = sum(o == ours and gain > 0 and p < 0.05 for (_, o, _), (gain, p) in tests.items())
        total = sum(key[1] == ours for key in tests)
        found.append(
            f"{kernel}, {ours}: significantly worse in {len(worse)} of {total} comparisons with rivals"
            + (f" ({', '.join(worse)})" if worse else "") + f", significantly better in {better}."
        )  # fmt: skip
    for name in ("pyrimidines", "triazines", "wpbc"):
        if name in accuracy:
            value = dict(zip(methods, accuracy[name].mean(axis=0), strict=True))
            paper = max(value[m] for m in FREE)
            gains = ", ".join(f"{m} {value[m] - paper:+.4f}" for m in OURS)
            found.append(f"{kernel}, {_title(name)}: against the better free-interval graph ({paper:.4f}): {gains}.")
    return found


def _figure(kernel: str, accuracy: dict[str, NDArray[Any]], seconds: dict[str, NDArray[Any]]) -> Any:
    figure = new_figure(10, 7)
    above, below = figure.subplots(2, 1)
    titles = [_title(name) for name in accuracy]
    for ax, table in ((above, accuracy), (below, seconds)):
        series = {
            method: [(v[:, k].mean(), v[:, k].min(), v[:, k].max()) for v in table.values()]
            for k, method in enumerate(METHODS[kernel])
        }
        bars_with_ranges(ax, titles, series)
    above.set_ylabel("pair accuracy, whole range")
    above.legend(frameon=False, ncols=4, fontsize="small")
    below.set_ylabel("seconds of a fit")
    below.set_yscale("log")
    return figure


EXPERIMENT = Experiment("hull", "Convex-hull ranking: figure 3", cells, load_sheet, run, report)
