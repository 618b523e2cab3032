"""Table 1 of the swapped-pairs SVM: three ways to learn an order, twelve data sets, twenty hold-out trials."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.datasets import discretize
from hullrank.experiments.base import Cell, Experiment, Record, Report, Results, ResultTable, emphasised, grid_of_cells
from hullrank.experiments.data import hold_out, load_sheet, standardise
from hullrank.experiments.figures import bars_with_ranges, new_figure, rank_figure, with_deviation
from hullrank.experiments.published import PAIRS, PairsRow, Score
from hullrank.experiments.statistics import average_ranks, in_words, paired_t_test, wilcoxon_test
from hullrank.experiments.tuning import choose
from hullrank.metrics import swapped_pairs
from hullrank.models.margins import FixedMarginClassifier
from hullrank.models.pairs import SwappedPairsRanker
from hullrank.models.sampled_pairs import SampledPairsRanker
from hullrank.problem.pairs import C_from_paper

SVOR, HERBRICH, SWAPPED = METHODS = ("SVOR5", "Herbrich5", "swapped pairs")
GRID = [(10.0**c, 10.0**g) for g in range(-3, 1) for c in range(-3, 2)]
QUICK_GRID = [(10.0**c, 10.0**g) for g in (-2, -1) for c in (-2, 0)]
QUICK = {"diabetes": (80, 120), "noisy scores": (80, 80)}
PER_SAMPLE = 5
BINS = 5


def cells(quick: bool) -> list[Cell]:
    """Twelve data sets x twenty trials x three methods."""
    return grid_of_cells(2 if quick else 20, QUICK if quick else PAIRS, METHODS, quick=quick)


def _learner(method: str, seed: int, tol: float) -> Callable[[Any, Any, NDArray[Any]], Any]:
    """``fit(point, X, y)`` of a method, with the C of its own paper."""

    def fit(point: tuple[float, float], X: Any, y: NDArray[Any]) -> Any:
        C, gamma = point
        options: dict[str, Any] = {"kernel": "rbf", "gamma": gamma, "tol": tol}
        if method == SVOR:
            grades = discretize(y, BINS)
            return FixedMarginClassifier(C=C, thresholds="all", loss="hinge", **options).fit(X, grades).score_samples
        if method == HERBRICH:
            drawn = SampledPairsRanker(PER_SAMPLE, C=C * PER_SAMPLE * len(y), random_state=seed, **options)
            return drawn.fit(X, y).score_samples
        n_pairs = int((y[:, None] > y).sum())
        return SwappedPairsRanker(C=C_from_paper(C, n_pairs), **options).fit(X, y).score_samples

    return fit


def run(cell: Cell) -> Record:
    """Choose C and gamma by five folds of the training part, fit, and count swapped pairs on the test part."""
    sheet = load_sheet(cell.dataset)
    n_train, n_test = QUICK[cell.dataset] if cell.quick else (PAIRS[cell.dataset].n_train, PAIRS[cell.dataset].n_test)
    train, test = hold_out(len(sheet.y), n_train, n_test, cell.trial)
    X, Z = standardise(sheet.X[train], sheet.X[test])
    y = sheet.y[train]
    grid = QUICK_GRID if cell.quick else GRID
    best = choose(grid, _learner(cell.method, cell.trial, 1e-3), X, y, swapped_pairs, folds=5, seed=cell.trial)
    scores = _learner(cell.method, cell.trial, 1e-4)(best, X, y)(Z)
    return {"swapped": 100 * swapped_pairs(sheet.y[test], scores), "C": best[0], "gamma": best[1]}


def report(results: Results, quick: bool) -> Report:
    """Our table beside the printed one, the tests, and the bars that the means have to clear."""
    names = results.datasets(QUICK if quick else PAIRS, METHODS)
    values = {name: results.paired(name, METHODS, "swapped") for name in names}
    trials = max((len(v) for v in values.values()), default=0)
    protocol = (
        f"Percentage of swapped pairs on the test part, mean ± standard deviation over {trials} hold-out trials. "
        "Gaussian kernel for all methods; C and gamma by 5-fold cross-validation on the training part over "
        f"{len(QUICK_GRID if quick else GRID)} points, in the C of each method's own paper. SVOR5 learns five "
        "equal-frequency bins, Herbrich5 five random pairs of every sample, the swapped-pairs SVM all pairs of the "
        "targets as they are. Nominal attributes are one-hot, features standardised on the training part. † and ††: "
        "differs from the swapped-pairs SVM by a paired t-test at 0.05 and 0.01.",
    )
    tables = [_table(values, quick), _tests(values, quick)]
    figures = {"pairs": _figure(values)}
    if len(values) > 1:
        figures["pairs-ranks"] = rank_figure([-v.mean(axis=0) for v in values.values()], METHODS)
    return Report("Swapped pairs", protocol, tables, figures, _findings(values, quick))


def _title(name: str) -> str:
    return PAIRS[name].title if name in PAIRS else name


def _printed(name: str) -> tuple[Score, Score, Score]:
    row: PairsRow = PAIRS[name]
    return row.svor, row.herbrich, row.swapped


def _dagger(p: float) -> str:
    return "††" if p < 0.01 else "†" if p < 0.05 else ""


def _table(values: dict[str, NDArray[Any]], quick: bool) -> ResultTable:
    columns = ["data set"]
    for method in METHODS:
        columns += [method] if quick else [method, "published", "difference"]
    rows = []
    for name, v in values.items():
        daggers = [_dagger(paired_t_test(column, v[:, 2])) for column in v.T]
        texts = [f"{c.mean():.2f}{d} ± {c.std(ddof=1):.2f}" for c, d in zip(v.T, daggers, strict=True)]
        row = [_title(name)]
        for k, text in enumerate(emphasised(texts, -v.mean(axis=0))):
            row.append(text)
            if not quick:
                printed = _printed(name)[k]
                row += [f"{printed.mean:.2f} ± {printed.sd:.2f}", _marked(v[:, k].mean() - printed.mean, printed.sd)]
        rows.append(tuple(row))
    notes = () if quick else ("Difference: ours less published; ▲ worse and ▼ better by more than one published sd.",)
    return ResultTable("pairs", "Swapped pairs in %", tuple(columns), rows, notes)


def _marked(difference: float, sd: float) -> str:
    return f"{difference:+.2f}{' ▲' if difference > sd else ' ▼' if difference < -sd else ''}"


def _tests(values: dict[str, NDArray[Any]], quick: bool) -> ResultTable:
    """p-values of the swapped-pairs SVM against its rivals, and its place under the published mean."""
    columns = ["data set", "t-test, SVOR5", "t-test, Herbrich5", "Wilcoxon, SVOR5", "Wilcoxon, Herbrich5"]
    rows = []
    for name, v in values.items():
        tests = [in_words(test(v[:, k], v[:, 2])) for test in (paired_t_test, wilcoxon_test) for k in (0, 1)]
        rows.append((_title(name), *tests, *([] if quick else [f"{_excess(name, v):+.2f}"])))
    if not quick:
        columns.append("(ours - published) / (sd / √20)")
    return ResultTable("pairs-tests", "The swapped-pairs SVM against its rivals", tuple(columns), rows)


def _excess(name: str, v: NDArray[Any]) -> float:
    """How far our mean lies above the published one, in published standard errors."""
    printed = PAIRS[name].swapped
    return float((v[:, 2].mean() - printed.mean) / (printed.sd / np.sqrt(20)))


def _findings(values: dict[str, NDArray[Any]], quick: bool) -> list[str]:
    means = np.array([v.mean(axis=0) for v in values.values()])
    if len(means) < 2:
        return []
    ranks = ", ".join(f"{m} {r:.2f}" for m, r in zip(METHODS, average_ranks(-means), strict=True))
    found = [f"Average ranks over {len(means)} data sets: {ranks}."]
    for k in (0, 1):
        gain = (means[:, k] - means[:, 2]).mean()
        p, w = paired_t_test(means[:, k], means[:, 2]), wilcoxon_test(means[:, k], means[:, 2])
        found.append(
            f"Over data sets, {METHODS[k]} swaps {gain:+.2f} points more than the swapped-pairs SVM "
            f"(t-test {in_words(p)}, Wilcoxon {in_words(w)})."
        )
    if not quick:
        excess = {name: _excess(name, v) for name, v in values.items()}
        for most in (2, 4):
            within = sum(e <= most for e in excess.values())
            over = ", ".join(_title(name) for name, e in excess.items() if e > most)
            found.append(
                f"Swapped-pairs SVM at most {most} sd / √20 above the published mean: {within} of {len(excess)} sets"
                + (f" (not on {over})." if over else ".")
            )
    return found


def _figure(values: dict[str, NDArray[Any]]) -> Any:
    figure = new_figure(10, 4.5)
    ax = figure.add_subplot()
    series = {method: [with_deviation(v[:, k]) for v in values.values()] for k, method in enumerate(METHODS)}
    if all(name in PAIRS for name in values):
        printed = [PAIRS[name].swapped for name in values]
        series["swapped pairs, published"] = [(s.mean, s.mean - s.sd, s.mean + s.sd) for s in printed]
    bars_with_ranges(ax, [_title(name) for name in values], series)
    ax.set_ylabel("swapped pairs (%), ± sd")
    ax.legend(frameon=False)
    return figure


EXPERIMENT = Experiment("pairs", "Swapped pairs: table 1", cells, load_sheet, run, report)
