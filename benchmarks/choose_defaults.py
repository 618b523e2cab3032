"""The defaults of the estimators, settled on 21 public data sets; prints the tables of docs/defaults.md.

    HULLRANK_DATA=folder python benchmarks/choose_defaults.py [--keep folder] [part ...]

The parts are prices, pairs, nu, sum, labels, decisions and raw; none is all of them. With --keep, what every table
found on every set is written to a file, and a run that was stopped goes on where it was.

Every set (at most 300 rows, drawn once; numbers in five grades of equal size) is cut into three folds, columns are
standardised on the training part, and every candidate is fitted to all but one fold and measured on it. A candidate's
figure is the mean over folds, then over sets. "left out" is honest about choosing: for every set the candidate that is
best on the mean of all *other* sets, measured on this one. "tuned" is what a choice of its own for every set gives: by
three inner folds of the training part. A part takes up to ten minutes of one thread, prices about half an hour.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import json
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    OrdinalCalibrator,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.datasets import discretize
from hullrank.experiments.data import load_sheet, standardise
from hullrank.metrics import swapped_pairs

SETS = [
    "ord_ERA",
    "ord_ESL",
    "ord_LEV",
    "ord_SWD",
    "ord_car",
    "ord_toy",
    "ord_winequality_red",
    "abalone",
    "autompg",
    "bank8FM",
    "bank32nh",
    "boston_housing",
    "cal_housing",
    "cpu_small",
    "house_8L",
    "machine_cpu",
    "pyrimidines",
    "servo",
    "stock",
    "triazines",
    "wpbc",
]
ROWS, GRADES, FOLDS = 300, 5, 3
KERNELS = ("linear", "rbf")
TOL = 1e-3


def load(name, least):
    """Rows, grades that at least so many rows have, and the target itself."""
    sheet = load_sheet(name)
    drawn = np.random.default_rng(0).permutation(len(sheet.y))[:ROWS]
    X, target = sheet.X[drawn], sheet.y[drawn].astype(float)
    grade = np.unique(target if name.startswith("ord") else discretize(target, GRADES), return_inverse=True)[1]
    kept = np.bincount(grade)[grade] >= least
    return X[kept], np.unique(grade[kept], return_inverse=True)[1], target[kept]


def folds(y):
    """Stratified splits; a grade of few rows may be missing in some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))


def rank_error(model, X, y, target):
    return float(np.mean(np.abs(getattr(model, "predict_class", model.predict)(X) - y)))


def label_error(model, X, y, target):
    return float(np.mean(getattr(model, "predict_class", model.predict)(X) != y))


def swapped(model, X, y, target):
    scores = model.score_samples(X)
    return 0.5 if np.ptp(scores) == 0 else swapped_pairs(target, scores)


def scaled(model, factor):
    """The model with C at ``factor`` times what "scale" would be if it had no factor of its own."""

    class Scaled(type(model)):
        _scaled_price = dict.fromkeys(type(model)._scaled_price, factor)

    return Scaled(**{**model.get_params(), "C": "scale"})


def measure(model, train, test, measures, on_target):
    """The figures of a model fitted to some rows on others."""
    (X, y, target), (Z, grade, value) = train, test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X, target if on_target else y)
        return [each(model, Z, grade, value) for each in measures]


def kept_trial(folder, title, name, *what):
    """`trial`, read from ``folder`` where an earlier run has left it."""
    if folder is None:
        return trial(name, *what)
    file = Path(folder) / f"{re.sub('[^a-zA-Z0-9]+', '-', title)}--{name}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([each.tolist() for each in trial(name, *what)]))
    return [np.array(each) for each in json.loads(file.read_text())]


def trial(name, candidates, measures, on_target, raw, least):
    """(candidates, measures) on held-out rows, and (measures,) of the candidates that inner folds choose."""
    X, y, target = load(name, least)
    outer, tuned = [], []
    for a, b in folds(y):
        A, B = (X[a], X[b]) if raw else standardise(X[a], X[b])
        train, test = (A, y[a], target[a]), (B, y[b], target[b])
        outer.append([measure(model, train, test, measures, on_target) for model in candidates])
        inner = [
            [
                measure(model, [each[i] for each in train], [each[j] for each in train], measures, on_target)
                for model in candidates
            ]
            for i, j in folds(y[a])
        ]
        best = np.mean(inner, axis=0).argmin(axis=0)
        tuned.append([outer[-1][c][k] for k, c in enumerate(best)])
    return np.mean(outer, axis=0), np.mean(tuned, axis=0)


def table(folder, title, candidates, measures, *, on_target=False, raw=False, least=FOLDS):
    """One line per measure: every candidate's mean over the sets, the honest choice, and the tuned one."""
    what = candidates, list(measures.values()), on_target, raw, least
    found = [kept_trial(folder, title, name, *what) for name in SETS]
    means, tuned = np.array([each[0] for each in found]), np.mean([each[1] for each in found], axis=0)
    for k, measure_name in enumerate(measures):
        values = means[:, :, k]  # (sets, candidates)
        chosen = [np.delete(values, s, axis=0).mean(axis=0).argmin() for s in range(len(SETS))]
        left_out = np.mean(values[np.arange(len(SETS)), chosen])
        mean = values.mean(axis=0)
        cells = [f"**{v:.3f}**" if v == mean.min() else f"{v:.3f}" for v in mean]
        print(f"| {title}, {measure_name} | {' | '.join(cells)} | {left_out:.3f} | {tuned[k]:.3f} |", flush=True)


def header(first, names):
    print(f"\n| {first} | " + " | ".join(names) + " | left out | tuned |")
    print("|---" * (len(names) + 3) + "|")


def prices(table):
    """C of the class-based models, by thresholds and loss."""
    factors = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    header("C times the mean square", [f"{f:g}" for f in factors])
    for kernel in KERNELS:
        for thresholds, loss in (
            ("all", "squared_hinge"), ("all", "hinge"), ("all", "logistic"),
            ("immediate", "squared_hinge"), ("immediate", "hinge"),
        ):  # fmt: skip
            base = FixedMarginClassifier(loss=loss, thresholds=thresholds, kernel=kernel, tol=TOL)
            table(
                f"{kernel}, {thresholds}, {loss.replace('_', ' ')}", [scaled(base, f) for f in factors],
                {"rank error": rank_error, "label error": label_error},
            )  # fmt: skip
        base = ConvexHullRanker(kernel=kernel, tol=TOL)
        table(
            f"{kernel}, hull", [scaled(base, f) for f in factors], {"rank error": rank_error, "swapped pairs": swapped}
        )


def pairs(table):
    """C of the rankers over pairs, by loss."""
    factors = (10.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 100_000.0)
    header("C times the mean square", [f"{f:g}" for f in factors])
    for kernel in KERNELS:
        for loss in ("hinge", "squared_hinge", "logistic"):
            base = SwappedPairsRanker(loss=loss, kernel=kernel, tol=TOL)
            table(
                f"{kernel}, {loss.replace('_', ' ')}",
                [scaled(base, f) for f in factors],
                {"swapped pairs": swapped},
                on_target=True,
            )


def fractions(table, Model):
    """The fraction of the workable range, and the weights of classes."""
    parts = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    header("fraction", [f"{f:g}" for f in parts])
    for weight in (None, "balanced"):
        for kernel in KERNELS:
            models = [Model(fraction=f, class_weight=weight, kernel=kernel, tol=TOL) for f in parts]
            title = f"{Model.__name__}, class_weight={weight}, {kernel}"
            table(title, models, {"rank error": rank_error, "swapped pairs": swapped})


def nu(table):
    """Fractions of the nu margin."""
    fractions(table, NuMarginClassifier)


def sum_of_margins(table):
    """Fractions of the sum of margins."""
    fractions(table, SumOfMarginsClassifier)


class NearestInterval(ConvexHullRanker):
    """The label rule of old: the class of the nearest interval, which on a chain is that between the middles."""

    def _store_label_rule(self, statement, solution):
        super()._store_label_rule(statement, solution)
        self.thresholds_ = (self.intervals_[:-1, 1] + self.intervals_[1:, 0]) / 2


def labels(table):
    """How hull rankers place a label."""
    header("rule", ["nearest interval", "least rank error"])
    for kernel in KERNELS:
        models = [NearestInterval(kernel=kernel, tol=TOL), ConvexHullRanker(kernel=kernel, tol=TOL)]
        table(kernel, models, {"rank error": rank_error, "label error": label_error})


def decisions(table):
    """How a calibrator decides."""
    header("decision", ["mode", "median"])
    for kernel in KERNELS:
        inner = FixedMarginClassifier(kernel=kernel, tol=TOL)
        models = [OrdinalCalibrator(inner, cv=3, decision=each) for each in ("mode", "median")]
        # inner folds cut the training part three times, and the calibrator once more: every part needs every grade
        table(kernel, models, {"rank error": rank_error, "label error": label_error}, least=4 * FOLDS)


def raw(table):
    """Raw columns: the defaults before and now, larger prices, and what standardising gives."""
    factors = (1.0, 10.0, 100.0)
    header("raw columns", ["before", *(f"{f:g} times now" for f in factors), "now, standardised"])
    for kernel in KERNELS:
        old = FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate", kernel=kernel, tol=TOL)
        new = FixedMarginClassifier(kernel=kernel, tol=TOL)
        both = [old, *(scaled(new, f) for f in factors), make_pipeline(StandardScaler(), new)]
        table(f"FixedMarginClassifier, {kernel}", both, {"rank error": rank_error}, raw=True)
        old, new = SwappedPairsRanker(1.0, kernel=kernel, tol=TOL), SwappedPairsRanker(kernel=kernel, tol=TOL)
        now = type(new)._scaled_price[new.loss]
        both = [old, *(scaled(new, f * now) for f in factors), make_pipeline(StandardScaler(), new)]
        table(f"SwappedPairsRanker, {kernel}", both, {"swapped pairs": swapped}, raw=True, on_target=True)


PARTS = {
    "prices": prices,
    "pairs": pairs,
    "nu": nu,
    "sum": sum_of_margins,
    "labels": labels,
    "decisions": decisions,
    "raw": raw,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; all where none is named")
    parser.add_argument("--keep", type=Path, help="a folder for what is found, from which a stopped run goes on")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        print(f"\n{PARTS[part].__doc__}")
        PARTS[part](partial(table, given.keep and given.keep / part))


if __name__ == "__main__":
    main()
