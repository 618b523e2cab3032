"""The one way from a statement to a solution; each kind of statement registers its own.

BLAS runs on one thread: solvers multiply small matrices, or blocks that fit the cache, for which waking other threads
costs more than they save, and beside other work many times more.
"""

from dataclasses import replace
from functools import singledispatch
from typing import Any

from hullrank._progress import recording
from hullrank._threads import one_blas_thread
from hullrank.problem.block_pairs import BlockPairStatement
from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.statement import Solution
from hullrank.solvers.base import Options


def solve(statement: Any, options: Options, start: Any = None) -> Solution:
    """Solve a statement; ``start`` is a `Point` (or what an earlier `Solution` left as its ``start``) to begin from."""
    with one_blas_thread(), recording() as gaps:
        solution = solve_stated(statement, options, start)
    return replace(solution, gaps=tuple(gaps))


@singledispatch
def solve_stated(statement: Any, options: Options, start: Any = None) -> Solution:
    """Solve one kind of statement; every kind registers a function of its own."""
    raise TypeError(f"no solver is registered for statements of type {type(statement).__name__}")


@solve_stated.register
def _(statement: IntervalStatement, options: Options, start: Any = None) -> Solution:
    if statement.signs is not None:
        return _solve_signed(statement, options, start)
    if statement.space is None:
        from hullrank.solvers.intervals import solve_intervals

        return solve_intervals(statement, options, start=start)
    from hullrank.solvers.kernel_intervals import solve_kernel_intervals

    return solve_kernel_intervals(statement, options, start=start)


@solve_stated.register
def _(statement: PairStatement, options: Options, start: Any = None) -> Solution:
    if statement.signs is not None:
        return _solve_signed(statement, options, start)
    from hullrank.solvers.pairs_newton import solve_pairs

    return solve_pairs(statement, options, start=start)


@solve_stated.register
def _(statement: BlockStatement, options: Options, start: Any = None) -> Solution:
    from hullrank.solvers.blocks import solve_in_blocks

    return solve_in_blocks(statement, options)


@solve_stated.register
def _(statement: BlockPairStatement, options: Options, start: Any = None) -> Solution:
    from hullrank.solvers.block_pairs import solve_block_pairs

    return solve_block_pairs(statement, options, start=start)


def _solve_signed(statement: Any, options: Options, start: Any) -> Solution:
    from hullrank.solvers.faces import solve_on_faces

    return solve_on_faces(statement, options, start=start)
