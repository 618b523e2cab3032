"""The state of a perceptron ranker, and one pass over examples: w, or support rows under a budget."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from hullrank.problem.kernels import kernel_diagonal, kernel_matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
BLOCK = 256


@dataclass
class LinearState:
    """w (and the clock-weighted sum of its changes) and the thresholds (likewise)."""

    coef: Floats
    thresholds: Floats
    clock: int = 0

    def visit(self, X: Any, codes: Ints, ids: Ints) -> int:
        """Learn from the rows in turn; returns the number of rows that changed the model."""
        from hullrank.baselines._loops import pass_dense, pass_sparse

        state = (codes, float(self.clock), self.coef, self.thresholds)
        if sp.issparse(X):
            mistakes = pass_sparse(X.data, X.indices.astype(np.intp), X.indptr.astype(np.intp), *state)
        else:
            mistakes = pass_dense(X, *state)
        self.clock += len(codes)
        return int(mistakes)


@dataclass
class KernelState:
    """Support rows with their coefficients (and the clock-weighted sums), never more than ``budget`` of them."""

    rows: Any
    coef: Floats
    thresholds: Floats
    kernel: dict[str, Any]
    budget: float
    ids: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    clock: int = 0

    def visit(self, X: Any, codes: Ints, ids: Ints) -> int:
        """Learn from the rows in turn, by blocks; rows with equal ids share one coefficient.

        An interrupt leaves the state of the last finished block.
        """
        X = like(self.rows, X)
        blocks = gen_batches(len(codes), BLOCK)
        return sum(self._visit_block(X[block], codes[block], ids[block]) for block in blocks)

    def _visit_block(self, X: Any, codes: Ints, ids: Ints) -> int:
        from hullrank.baselines._loops import move_thresholds

        place = {key: slot for slot, key in enumerate(self.ids.tolist())}
        fresh = np.flatnonzero([key not in place for key in ids.tolist()])
        place |= {key: len(place) + slot for slot, key in enumerate(ids[fresh].tolist())}
        rows = _stack(self.rows, X[fresh])
        coef = np.hstack([self.coef, np.zeros((len(self.coef), len(fresh)))])
        values = kernel_matrix(X, rows, **self.kernel)
        norms = np.sqrt(np.maximum(kernel_diagonal(rows, **self.kernel), 0.0))
        thresholds = self.thresholds.copy()
        mistakes = 0
        for k, slot in enumerate(place[key] for key in ids.tolist()):
            clock = self.clock + k
            step = move_thresholds(values[k] @ coef[0], codes[k], float(clock), thresholds)
            if step:
                mistakes += 1
                coef[:, slot] += (step, step * clock)[: len(coef)]
                if np.count_nonzero(coef[0]) > self.budget:
                    _drop_weakest(coef, norms)
        kept = np.flatnonzero(coef[0])
        self.rows, self.coef, self.thresholds = rows[kept], coef[:, kept], thresholds
        self.ids = np.concatenate([self.ids, ids[fresh]])[kept]
        self.clock += len(codes)
        return mistakes


def _drop_weakest(coef: Floats, norms: Floats) -> None:
    """Forget the support row with the shortest term |v_i| sqrt(k(x_i, x_i)), the oldest of equals."""
    length = np.abs(coef[0]) * norms
    length[coef[0] == 0] = np.inf
    coef[:, int(np.argmin(length))] = 0.0


def _stack(above: Any, below: Any) -> Any:
    return sp.vstack([above, below], format="csr") if sp.issparse(above) else np.vstack([above, below])


def like(rows: Any, X: Any) -> Any:
    """X stored as ``rows`` are: sparse if they are."""
    if sp.issparse(rows):
        return sp.csr_array(X)
    return X.toarray() if sp.issparse(X) else X
