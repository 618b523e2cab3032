"""Nothing in ``solvers`` or ``models`` multiplies by X: the products stand in ``problem``, behind a protocol."""

import ast
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

import hullrank
from hullrank import SampledPairsRanker, SwappedPairsRanker
from hullrank.problem.rows import ArrayRows, Rows
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

SOURCE = Path(hullrank.__file__).parent
FILES = sorted([*SOURCE.glob("solvers/*.py"), *SOURCE.glob("models/*.py")])
PRODUCTS = {"dot", "vdot", "matmul", "inner", "tensordot", "einsum", "safe_sparse_dot"}
CHANGED = {"T", "toarray", "todense", "copy", "astype", "multiply", "tocsr", "tocsc", "tocoo", "reshape", "ravel"}
ARRAYS = {"np", "sp", "scipy"}


class Products(ast.NodeVisitor):
    """The lines on which a function multiplies by X, or by what it made of X with NumPy, SciPy or arithmetic.

    X is whatever is called so, as a name or as an attribute. Results of other functions are not followed: what the
    protocol returns may be multiplied.
    """

    def __init__(self):
        self.made, self.lines = {"X"}, []

    def visit_FunctionDef(self, node):
        outside, self.made = self.made, set(self.made)
        self.generic_visit(node)
        self.made = outside

    def visit_Assign(self, node):
        self.generic_visit(node)
        for target in node.targets:
            both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=True) if both else [(target, node.value)]
            for name, value in pairs:
                self._store(name, value)

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is not None:
            self._store(node.target, node.value)

    def visit_For(self, node):
        self._store(node.target, node.iter)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            self._refuse(node, node.left, node.right)

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in PRODUCTS:
            self._refuse(node, *node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else []))

    def _refuse(self, node, *factors):
        if any(map(self.is_rows, factors)):
            self.lines.append(node.lineno)

    def _store(self, target, value):
        if isinstance(target, ast.Name) and self.is_rows(value):
            self.made.add(target.id)

    def is_rows(self, node):
        match node:
            case ast.Name(id=name):
                return name in self.made
            case ast.Attribute(attr="X"):
                return True
            case ast.Attribute(value=value, attr=attr):
                return attr in CHANGED and self.is_rows(value)
            case ast.Subscript(value=value):
                return self.is_rows(value)
            case ast.BinOp(left=left, right=right):
                return not isinstance(node.op, ast.MatMult) and (self.is_rows(left) or self.is_rows(right))
            case ast.IfExp(body=body, orelse=other):
                return self.is_rows(body) or self.is_rows(other)
            case ast.ListComp(elt=made) | ast.GeneratorExp(elt=made):
                return self.is_rows(made)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module)), args=args) if module in ARRAYS:
                return any(map(self.is_rows, args))
            case ast.Call(func=ast.Attribute() as method):
                return self.is_rows(method)
        return False


def products(source):
    found = Products()
    found.visit(ast.parse(source))
    return found.lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_solver_or_model_multiplies_by_the_rows(path):
    assert products(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "X @ w", "w @ X", "samples.X.T @ v", "X[kept] @ w", "np.asarray(X) @ w", "X.toarray().T @ v", "X.dot(w)",
        "np.einsum('ij,ij->i', X, X)", "np.dot(X, w)", "Z = X - mean\nZ @ w", "Z, k = X / scale, 1\nk + Z.T @ v",
        "D = rows.take(hi).X - rows.take(lo).X\nD = D.toarray() if wide else D\nD @ D.T", "(X * d[:, None]).T @ w",
        "np.clip((rows.X - m) / s, -1, 1) @ basis", "for part in X:\n    part @ w", "sp.csr_array(X) @ w",
        "def f(X):\n    return X @ w",
    ],
)  # fmt: skip
def test_a_product_with_the_rows_would_be_found(line):
    assert len(products(line)) == 1


@pytest.mark.parametrize("line", ["linear_scores(X, w) @ v", "rows.gram(d) @ v", "len(X) * (K @ v)", "np.ones(n) @ w"])
def test_what_the_protocol_returns_may_be_multiplied(line):
    assert products(line) == []


OFFERED = {name for name in vars(Rows) if not name.startswith("_")}


class WatchedRows(ArrayRows):
    """Rows that answer to modules of ``solvers`` and ``models`` only what the protocol offers, and count it."""

    asked: ClassVar[set[str]] = set()

    def __getattribute__(self, name):
        caller = sys._getframe(1).f_code.co_filename
        if not name.startswith("__") and Path(caller).parent.name in ("solvers", "models"):
            if name not in OFFERED:
                raise AssertionError(f"{caller} asks rows for {name}")
            WatchedRows.asked.add(name)
        found = super().__getattribute__(name)
        return (lambda *args, **more: watched(found(*args, **more))) if name == "take" else found


def watched(rows):
    return WatchedRows(rows.X, rows.pick, rows.mean, rows.scale, rows.spread, rows.deviation)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(
    ("make", "m", "n"),
    [
        (SwappedPairsRanker, 40, 3),  # listed pairs, whose multipliers are solved for one by one
        (SwappedPairsRanker, 700, 3),
        (SwappedPairsRanker, 20_000, 2),  # Hessians of a part of the rows
        (SwappedPairsRanker, 300, 250),  # directions by conjugate gradients
        (SampledPairsRanker, 100, 3),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_pair_solvers_ask_rows_only_for_what_the_protocol_offers(make, m, n, loss, sparse):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
    y = np.round(X[:, 0] + X[:, 1] + rng.normal(size=m)).astype(int)
    statement = make(C=3.0, loss=loss).state(sp.csr_array(X) if sparse else X, y)
    plain = solve(statement, Options(1e-6))
    vars(statement)["rows"] = watched(statement.rows)
    WatchedRows.asked.clear()
    found = solve(statement, Options(1e-6))
    assert {"scores", "n_rows", "n_features"} <= WatchedRows.asked
    np.testing.assert_array_equal(found.point.coef, plain.point.coef)
