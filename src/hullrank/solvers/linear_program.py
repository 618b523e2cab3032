"""Linear and mixed-integer programs by HiGHS: the only module that knows it.

A program is  min c.x  subject to  row_lower <= A x <= row_upper  and  col_lower <= x <= col_upper, some x integer.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]


class ProgramStatus(StrEnum):
    """How HiGHS ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True)
class ProgramSolution:
    """What HiGHS says: never a proof, always to be recounted.

    ``row_duals`` (LP only) are the derivatives of the optimum by the active row bounds; ``bound`` is the proven lower
    bound on the objective (for an LP the objective itself). Without a feasible point x is empty and the objective inf.
    """

    status: ProgramStatus
    x: Floats
    objective: float
    row_duals: Floats
    bound: float


@dataclass(frozen=True)
class LinearProgram:
    """min c.x with two-sided rows and columns; ``integer`` marks integer columns (None: none)."""

    c: Floats
    A: Any
    row_lower: Floats
    row_upper: Floats
    col_lower: Floats
    col_upper: Floats
    integer: NDArray[np.bool_] | None = None

    def write(self, path: str | Path) -> None:
        """Write the program for other solvers; the suffix chooses the format (.mps or .lp)."""
        if Path(path).suffix not in (".mps", ".lp"):
            raise HullrankError(f"cannot tell the format of {str(path)!r}; name the file *.mps or *.lp")
        highs = _highs()
        highs.passModel(_model(self))
        if highs.writeModel(str(path)).name == "kError":
            raise HullrankError(f"HiGHS could not write {str(path)!r}; is the folder there and writable?")


def solve_lp(
    c: Floats, A: Any, row_lower: Floats, row_upper: Floats, col_lower: Floats, col_upper: Floats, *,
    presolve: bool = True,
) -> ProgramSolution:  # fmt: skip
    """Solve the linear program by the simplex method; A is dense or sparse.

    Where A has few rows and no zeros, ``presolve`` finds nothing and takes as long as the simplex method.
    """
    program = LinearProgram(c, A, row_lower, row_upper, col_lower, col_upper)
    return GrowingProgram(program, presolve=presolve).solve()


def solve_mip(
    program: LinearProgram, *, time_limit: float = float("inf"), start: Floats | None = None
) -> ProgramSolution:
    """Solve the mixed-integer program on one thread; ``start`` is a first feasible point, Ctrl-C keeps the best one."""
    highs = _highs()
    highs.setOptionValue("time_limit", float(time_limit))
    highs.passModel(_model(program))
    if start is not None:
        columns = np.arange(len(start), dtype=np.int32)
        highs.setSolution(len(start), columns, np.asarray(start, dtype=np.float64))
    interrupted = _run_until_interrupted(highs)
    return _solution(highs, mixed=True, interrupted=interrupted)


class Basis(NamedTuple):
    """The status of every column and row at a vertex, in the words of HiGHS."""

    columns: list[Any]
    rows: list[Any]


class GrowingProgram:
    """A linear program that grows by rows; every solve starts from the last basis."""

    def __init__(self, program: LinearProgram, *, presolve: bool = True) -> None:
        self._highs = _highs()
        if not presolve:
            self._highs.setOptionValue("presolve", "off")
        self._highs.passModel(_model(program))

    def add_rows(self, A: Any, row_lower: Floats, row_upper: Floats) -> None:
        """Append the rows  row_lower <= A x <= row_upper."""
        rows = sp.csr_array(A)
        self._highs.addRows(
            rows.shape[0], row_lower, row_upper, rows.nnz, rows.indptr[:-1].astype(np.int32), rows.indices, rows.data
        )

    def set_bounds(self, col_lower: Floats, col_upper: Floats) -> None:
        """Replace the bounds of all columns."""
        columns = np.arange(len(col_lower), dtype=np.int32)
        self._highs.changeColsBounds(len(columns), columns, col_lower, col_upper)

    def basis(self, rows: NDArray[np.intp]) -> Basis:
        """Where the last solve ended, for ``start_from`` of a program that has these rows only."""
        basis = self._highs.getBasis()
        statuses = basis.row_status  # every access copies the whole list
        return Basis(basis.col_status, [statuses[row] for row in rows])

    def start_from(self, basis: Basis) -> None:
        """Begin the next solve where another one ended."""
        import highspy

        start = highspy.HighsBasis()
        start.col_status, start.row_status, start.valid = basis.columns, basis.rows, True
        self._highs.setBasis(start)

    def infeasibility(self) -> Floats:
        """Row multipliers that HiGHS gives as its reason for an infeasible program; empty if it has none."""
        _, exists, ray = self._highs.getDualRay()
        return np.array(ray, dtype=np.float64) if exists else np.empty(0)

    def solve(self, seconds: float = float("inf")) -> ProgramSolution:
        """Solve what stands now, within so many seconds."""
        if seconds < float("inf"):  # HiGHS counts the seconds of all its runs
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 0.0))
        self._highs.run()
        return _solution(self._highs, mixed=False)


def _highs() -> Any:
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    return highs


def _model(program: LinearProgram) -> Any:
    import highspy

    columns = sp.csc_array(program.A, dtype=np.float64)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = columns.shape
    for field in ("col_lower", "col_upper", "row_lower", "row_upper"):
        setattr(lp, f"{field}_", np.asarray(getattr(program, field), dtype=np.float64))
    lp.col_cost_ = np.asarray(program.c, dtype=np.float64)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = columns.indptr
    lp.a_matrix_.index_ = columns.indices
    lp.a_matrix_.value_ = columns.data
    if program.integer is not None:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(flag)] for flag in program.integer]
    return lp


def _run_until_interrupted(highs: Any) -> bool:
    """Run HiGHS; Ctrl-C asks it to stop and to keep what it has. Returns whether that happened."""
    highs.HandleUserInterrupt = True
    interrupted = False
    highs.startSolve()
    finished = False
    while not finished:
        try:
            finished = highs.wait(0.1)[0]
        except KeyboardInterrupt:
            interrupted = True
            highs.cancelSolve()
    return interrupted


def _solution(highs: Any, *, mixed: bool, interrupted: bool = False) -> ProgramSolution:
    info = highs.getInfo()
    solution = highs.getSolution()
    feasible = info.primal_solution_status == 2  # kSolutionStatusFeasible
    objective = float(info.objective_function_value) if feasible else float("inf")
    return ProgramSolution(
        ProgramStatus.INTERRUPTED if interrupted else _status(highs),
        np.array(solution.col_value, dtype=np.float64) if feasible else np.empty(0),
        objective,
        np.array(solution.row_dual, dtype=np.float64) if feasible and not mixed else np.empty(0),
        float(info.mip_dual_bound) if mixed else objective,
    )


def _status(highs: Any) -> ProgramStatus:
    import highspy

    return {
        highspy.HighsModelStatus.kOptimal: ProgramStatus.OPTIMAL,
        highspy.HighsModelStatus.kInfeasible: ProgramStatus.INFEASIBLE,
        highspy.HighsModelStatus.kUnbounded: ProgramStatus.UNBOUNDED,
        highspy.HighsModelStatus.kTimeLimit: ProgramStatus.TIME_LIMIT,
        highspy.HighsModelStatus.kInterrupt: ProgramStatus.INTERRUPTED,
    }.get(highs.getModelStatus(), ProgramStatus.FAILED)
