"""Rows for experiments: nominal attributes one-hot, splits by fixed seeds, scales from the training part only."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from hullrank.datasets import load_dataset, make_ordinal, make_roc_flexibility

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SEED = 20050101


@dataclass(frozen=True)
class Sheet:
    """Numeric features (nominal attributes one-hot) and the target as the source gives it."""

    X: Floats
    y: NDArray[Any]


@lru_cache(maxsize=16)
def load_sheet(name: str) -> Sheet:
    """A data set by the name of `hullrank.datasets.load_dataset`, or of a bundled or generated one for quick runs."""
    if name in BUNDLED:
        X, y = BUNDLED[name]()
        return Sheet(np.asarray(X, dtype=np.float64), np.asarray(y))
    bunch = load_dataset(name)
    nominal = set(bunch.nominal)
    columns = [
        _one_hot(column) if title in nominal else np.asarray(column, dtype=np.float64)[:, None]
        for title, column in zip(bunch.feature_names, bunch.data.T, strict=True)
    ]
    return Sheet(np.hstack(columns), np.asarray(bunch.target))


def _one_hot(column: NDArray[Any]) -> Floats:
    levels = np.unique(column.astype(str))
    return (column.astype(str)[:, None] == levels).astype(np.float64)


def _noisy_scores(seed: int) -> tuple[Floats, Floats]:
    X, _, w = make_ordinal(160, 5, noise=0.5, return_coef=True, random_state=seed)
    return X, X @ w + 0.5 * np.random.default_rng(seed).standard_normal(len(X))


def _versicolor() -> tuple[Floats, NDArray[Any]]:
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], y[50:] == 2


def _cells() -> tuple[Floats, NDArray[Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :4], 1 - y


BUNDLED: dict[str, Any] = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "noisy scores": lambda: _noisy_scores(0),
    "iris": _versicolor,
    "breast cancer": _cells,
    "saddle": lambda: make_ordinal(200, 2, surface="saddle", n_classes=3, random_state=0),
    "roc_flexibility": lambda: make_roc_flexibility(500, random_state=SEED),
    "flexible": lambda: make_roc_flexibility(370, random_state=0),
}


def generator(*key: int) -> np.random.Generator:
    """Random numbers that depend on nothing but the key."""
    return np.random.default_rng([SEED, *key])


def hold_out(n: int, n_train: int, n_test: int, trial: int) -> tuple[Indices, Indices]:
    """Rows for training and for testing: the same for every method of a trial."""
    shuffled = generator(n, trial).permutation(n)
    return shuffled[:n_train], shuffled[n_train : n_train + n_test]


def standardise(train: Floats, *others: Floats) -> list[Floats]:
    """Zero mean and unit variance on the training part, its constant columns dropped; the same map for the others."""
    mean, scale = train.mean(axis=0), train.std(axis=0)
    kept = scale > 1e-12 * np.maximum(np.abs(mean), 1.0)
    return [(part[:, kept] - mean[kept]) / scale[kept] for part in (train, *others)]
