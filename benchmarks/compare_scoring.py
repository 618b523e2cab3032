"""Optimal scoring systems against rounded logistic regression, on three data sets.

HULLRANK_DATA=folder python benchmarks/compare_scoring.py [--seconds 20]

The folder holds ord_LEV.csv, ord_SWD.csv and liver_disorders.csv; the positives are the upper grades. Weights are whole
numbers up to 5. Rounding takes the weights of logistic regression times 5 / max |w| to the nearest whole numbers;
"best rounding" tries many multiples and keeps the best one on the training data. AUC (%), ties count as errors, over
the whole data (training) and as the mean of five folds (test).
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from hullrank import ExactRanker
from hullrank.metrics import swapped_pairs

SETS = {"ord_LEV": 2, "ord_SWD": 4, "liver_disorders": 2}
LARGEST = 5


def load(name, cut):
    table = pd.read_csv(Path(os.environ.get("HULLRANK_DATA", ".")) / f"{name}.csv")
    return table.iloc[:, :-1].to_numpy(dtype=float), (table.iloc[:, -1].to_numpy() >= cut).astype(int)


def auc(w, X, y):
    return 100 * (1 - swapped_pairs(y, X @ w))


def rounded(X, y, *, best):
    w = LogisticRegression(C=1e4, max_iter=10_000).fit(X, y).coef_[0]
    tries = [np.rint(w / np.abs(w).max() * size) for size in (np.linspace(0.5, LARGEST, 200) if best else [LARGEST])]
    return max(tries, key=lambda each: auc(each, X, y))


def exact(X, y, seconds, **rule):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ExactRanker(weights="integer", max_weight=LARGEST, time_limit=seconds, **rule).fit(X, y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    print(f"{'data':18}{'weights':26}{'training':>10}{'bound':>10}{'test':>10}")
    for name, cut in SETS.items():
        X, y = load(name, cut)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        few = max(2, X.shape[1] // 2)
        methods = {
            "rounded logistic": lambda A, b: rounded(A, b, best=False),
            "best rounding": lambda A, b: rounded(A, b, best=True),
            "exact": lambda A, b: exact(A, b, seconds).coef_,
            f"exact, {few} features": lambda A, b, few=few: exact(A, b, seconds, max_features=few).coef_,
        }
        for label, method in methods.items():
            test = np.mean([auc(method(X[fit], y[fit]), X[held], y[held]) for fit, held in folds])
            w, bound = method(X, y), ""
            if label.startswith("exact"):
                rule = {"max_features": few} if "features" in label else {}
                bound = f"{100 * exact(X, y, seconds, **rule).certificate_.upper_bound:.2f}"
            shape = f"{name.removeprefix('ord_')[:5]} {X.shape[0]}x{X.shape[1]}"
            print(
                f"{shape:18}{label:26}{auc(w, X, y):10.2f}{bound:>10}{test:10.2f}  {w.astype(int).tolist()}", flush=True
            )


if __name__ == "__main__":
    main()
