"""Many rows: solve a sample, settle the rows that are clear of their kink into sums, solve the rest exactly.

Most rows end with a multiplier of 0 or C. A sample tells which: rows further from their kink than the error of the
sampled solution are settled into sums, the others fetched and solved beside those sums by the interior-point method.
The next pass over all rows gives the objective of that point, and with it a gap; where it is not closed, the same pass
has settled and fetched for the next round, with a narrower window. Rows that were settled wrongly show as an objective
that rises: then the best point is taken up again with a wider window.

Charges without a kink, and more rows near their kink than there is room for, are replaced by their quadratic model
(the hinge smoothed over the window): a Newton step on all rows, after which the window can be narrower.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from hullrank._progress import tell
from hullrank.problem.block_charges import Window
from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.block_survey import Survey
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import Penalty
from hullrank.problem.near_rows import kinds_among, rows_repeat
from hullrank.problem.statement import Point, Solution
from hullrank.solvers._block_record import Record
from hullrank.solvers._block_starts import growing_samples, settling_width, solve_directly
from hullrank.solvers._block_step import Step
from hullrank.solvers._block_terms import Units
from hullrank.solvers._block_zero import evidence_for_zero
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError
from hullrank.solvers._scaled import scaled_point
from hullrank.solvers.base import Options, Solver, able, register
from hullrank.solvers.interior_point import Iterate

NAME, NEWTON = "interior point on unsettled rows", "semismooth Newton"
FEW_SLACKS = 20_000  # slacks up to which all are fetched: no more than the rows of the drawn samples
MORE_CAUTION = 1.5  # most by which the first window is widened where a pass costs more than solving some more rows
MOST_FETCHED = 1 / 8  # share of all rows that a widened first window, or in memory a later one, holds at most
NARROWER = 8.0  # most by which a window shrinks from round to round
NARROWER_IN_MEMORY = 4.0  # the same where passes are cheap: a window too narrow costs more than another round
NARROWER_DRIVEN = 2.0  # the same where a linear term drives thresholds apart, which only rows in the window can hold
WIDER = 8.0  # factor by which the window of a step that settled rows wrongly grows
PASSES_OF_A_STEP = 16  # solving the fetched rows takes as long as so many passes over them
ROWS_OF_A_STEP = 2000  # rows whose solution takes as long as the part of a solve that does not depend on their number
MOST_FAILURES = 3  # steps that settled rows wrongly, after which the window takes in all rows
MOST_ROUNDS = 16  # most passes over all rows
ROUNDS_FROM_START = 5  # the same where the search begins at a known solution
SOLUTION_CAUTION = 3.0  # a window around a known solution is this many times the error that its gap allows


@dataclass(frozen=True)
class _Round:
    """The iterate to be surveyed next, the width of the window (scaled units), and how many slacks it may contain."""

    iterate: Iterate
    width: float
    expected: float


def solve_in_blocks(statement: BlockStatement, options: Options) -> Solution:
    """Solve a statement over blocks, from the solution of its drawn samples."""
    able(statement)
    search = _Search(statement, options)
    return search.run(search.sampled(), MOST_ROUNDS)


def solve_from_start(statement: BlockStatement, options: Options, start: Point) -> Solution:
    """Settle the rows by a known solution of a neighbouring problem; gives up early where that leads nowhere.

    A solution with relative gap tol has 1/2 |w - w*|^2 <= tol P, and rows have length 1 once scaled, so that scores
    are wrong by at most about sqrt(2 tol P); and with many rows by less than if the rows were only a sample of others.
    Rows further from their kink keep their side of it.
    """
    search = _Search(statement, options)
    return search.run(search.started(start), ROUNDS_FROM_START)


class _Search:
    """Rounds of surveying all rows and solving, each with a window of its own."""

    def __init__(self, statement: BlockStatement, options: Options) -> None:
        self.statement, self.options, self.units = statement, options, Units(statement)
        self.step = Step(statement, self.units, options)
        self.record = Record(statement, self.units, options.tol)
        self.repeats = False  # whether scores, those of the drawn samples too, are few and far apart
        self.failures = 0
        self.last = (np.inf, 0, True)  # window of the last step: its width, the slacks in it, and if they were fetched

    def run(self, first: _Round, most_rounds: int) -> Solution:
        """Rounds of surveying and solving from the first one on."""
        with np.errstate(all="ignore"):  # a point far off may overflow; it is then worse than the best one
            status = self._rounds(first, most_rounds)
        self.record.leave_at_zero()
        best = self.record.best
        name = NEWTON if self.statement.problem.charge.smooth else NAME
        return Solution(best.point, replace(self.record.evidence, survey=best), status, self.step.iterations, name)

    def started(self, start: Point) -> _Round:
        """The first round from a known solution."""
        statement, units = self.statement, self.units
        iterate = scaled_point(units.problem, start, units.f, units.mean)
        found = statement.survey(units.stated(iterate))
        error = float(np.sqrt(2 * self.options.tol * abs(units.objective(iterate, found))))
        width = min(SOLUTION_CAUTION * error, settling_width(statement, iterate))
        return _Round(iterate, width, 0.0)

    def sampled(self) -> _Round:
        """The first round from the solution of the drawn samples, which is found on samples of growing size.

        Where a pass costs less than solving the fetched rows, it gives a Newton step first, after which few are left.
        Where slacks are few, or rows repeat, and there is room for all, none is settled.
        """
        statement, problem = self.statement, self.statement.problem
        parts = growing_samples(statement)
        self.drawn = parts[-1]
        hinge = problem.charge is Charge.HINGE
        self.repeats = statement.repeats and hinge and rows_repeat(self.drawn.samples, self.drawn.size.n_samples)
        iterate = solve_directly(parts[0], self.options.max_iter, self.options.verbose)
        self.step.iterations = iterate.iterations
        for before, larger in pairwise(parts):
            if iterate.status is Status.INTERRUPTED:
                break
            width = np.inf if self.repeats else settling_width(before, iterate)
            iterate = self._settled_once(larger, iterate, width)
        width = settling_width(parts[-1], iterate)
        if statement.cheap and problem.charge is Charge.HINGE and np.isfinite(width):
            return _Round(iterate, width, np.inf)
        worth = (self.repeats or statement.n_slacks <= FEW_SLACKS) and not (statement.cheap or problem.charge.smooth)
        if worth and self._held(iterate, np.inf, statement.n_slacks) <= statement.room:
            return _Round(iterate, np.inf, 0.0)
        if self.repeats:
            width = self._fitting(iterate, width)
            return _Round(iterate, width, self._held(iterate, width))
        window = self._window(iterate, width, fetch=True, model=False)
        share = parts[-1].survey(self.units.stated(iterate), window).n_near / max(len(statement.samples.codes), 1)
        expected, m = share * statement.size.n_samples, statement.size.n_samples
        if not statement.cheap:  # rather some more rows than another pass
            wider = float(np.clip(min(statement.room, MOST_FETCHED * m) / max(expected, 1.0), 1.0, MORE_CAUTION))
            return _Round(iterate, width * wider, expected * wider)
        costly = PASSES_OF_A_STEP * (expected + ROWS_OF_A_STEP) > m and np.isfinite(width)
        return _Round(iterate, width, np.inf if costly else expected)

    def _held(self, iterate: Iterate, width: float, slacks: float = np.inf) -> float:
        """How many slacks a pass will hold that fetches so many ``slacks`` near their kink.

        Where rows repeat, equal ones are held as one, and the drawn samples tell how many are different.
        """
        if not self.repeats:
            return slacks
        near = self.drawn.survey(self.units.stated(iterate), self._window(iterate, width, True, True)).near
        times = np.concatenate([part.counts for part in near]) if near else np.empty(0, dtype=np.int64)
        share = self.statement.size.n_samples / len(self.drawn.samples.codes)
        return min(kinds_among(times, times.sum() * share), slacks)

    def _fitting(self, iterate: Iterate, width: float) -> float:
        """A window as wide as there is room for what it holds: scores of rows that repeat are far apart."""
        while self._held(iterate, 2 * width) <= self.statement.room:
            width *= 2
        return width

    def _settled_once(self, larger: BlockStatement, iterate: Iterate, width: float) -> Iterate:
        """A Newton step on a sample with the hinge smoothed; where that has no answer, fetched rows are solved."""
        for fetch in (True,) if np.isinf(width) else (False, True):
            window = self._window(iterate, width, fetch, model=True)
            found = larger.survey(self.units.stated(iterate), window)
            try:
                return self.step(larger, iterate, found, 1e-4, min(width, 1.0))[0]
            except SingularSystemError:
                continue
        return iterate

    def _rounds(self, now: _Round, most_rounds: int) -> Status:
        """Survey and solve in turns; a cheap pass after fetched rows were solved may be the last: it has no model."""
        squared = self.statement.cheap and self.statement.problem.charge is Charge.SQUARED_HINGE
        lean = False
        for turn in range(most_rounds):
            try:
                found = self._survey(now, model=not lean)
                worse = self.record.note(found, now.iterate)
                if turn == 0:
                    self._try_zero()
                tell(self.record.gap, partial(self._report, found), self.options.verbose)
                ending = self._ending(now, worse)
                if ending is not None:
                    return ending
                if lean and not worse:
                    found = self._survey(now, model=True)
                bare = found.n_near == 0 and self.statement.problem.charge is Charge.HINGE  # a line has no minimum
                again = (worse and self._is_doubtful(found)) or bare
                now = self._other(now, found) if again else self._next(now, found)
                self.failures += worse and found.window.fetch
                lean = squared and found.window.fetch
            except KeyboardInterrupt:
                if self.record.is_empty:
                    raise
                return Status.INTERRUPTED
        return Status.STALLED

    def _try_zero(self) -> None:
        """Prove that there is no ranking, where the drawn samples have led to nothing better than 0."""
        statement, record = self.statement, self.record
        if statement.problem.homogeneous and not statement.cheap and record.primal >= 0:
            evidence = evidence_for_zero(statement, self.drawn, self.units, self.step)
            if evidence is not None:
                record.prove_zero(evidence)

    def _ending(self, now: _Round, worse: bool) -> Status | None:
        """How the search ends with the last pass, or None where it goes on."""
        if self.record.is_closed:
            return Status.CONVERGED
        if now.iterate.status is Status.INTERRUPTED:
            return Status.INTERRUPTED
        cheap = self.statement.cheap
        if (cheap and self._is_crossed(now.iterate)) or (worse and self.failures >= MOST_FAILURES * (2 - cheap)):
            return Status.STALLED
        return Status.MAX_ITER if self.step.iterations >= self.options.max_iter * MOST_ROUNDS else None

    def _survey(self, now: _Round, model: bool) -> Survey:
        """A pass over all rows at the current iterate; the margin of nu would bend a smoothed charge, too."""
        fetch = now.expected <= self.statement.room or np.isinf(now.width)
        return self.statement.survey(self.units.stated(now.iterate), self._window(now.iterate, now.width, fetch, model))

    def _window(self, iterate: Iterate, width: float, fetch: bool, model: bool) -> Window:
        return Window(width * self.units.ratio(iterate), fetch, model)

    def _report(self, found: Survey) -> str:
        primal = self.statement.objective(found.point, found)
        return (
            f"pass {self.statement.passes}  objective {primal:.10g}  gap {self.record.gap:.2g}  {found.n_near} slacks "
            f"near their kink (window {found.window.width:.2g}, {'fetched' if found.window.fetch else 'smoothed'})"
        )

    def _next(self, now: _Round, found: Survey) -> _Round:
        """Solve beside the sums of this pass; the next window is narrower."""
        mu, self.last = min(now.width, 1.0), (now.width, found.n_near, found.window.fetch)
        try:
            iterate, self.record.pending = self.step(self.statement, now.iterate, found, self.options.tol, mu)
        except SingularSystemError:  # a threshold without a row near its kink: fetch them, or take in more
            return _Round(now.iterate, now.width * (1.0 if np.isinf(now.expected) else 2.0), found.n_near)
        if np.isinf(now.width):
            return _Round(iterate, settling_width(self.statement, iterate), found.n_near / NARROWER)
        if found.window.fetch:  # if it left a gap, rows were settled wrongly: a narrower window would settle more
            return _Round(iterate, now.width, found.n_near)
        narrower = NARROWER_IN_MEMORY
        if self.statement.problem.homogeneous:
            narrower = NARROWER_DRIVEN
        elif not self.statement.cheap:  # fetch next as many rows as there is room for
            narrower = float(np.clip(found.n_near / self.statement.room, 2.0, NARROWER))
        expected, most = found.n_near / narrower, MOST_FETCHED * self.statement.size.n_samples
        if self.statement.cheap and expected > most:  # another Newton step costs less than so many rows
            expected = np.inf
        return _Round(iterate, now.width / narrower, expected)

    def _other(self, now: _Round, found: Survey) -> _Round:
        """From the best point once more: with a wider window if rows were settled, else a shorter step.

        A hinge that was smoothed, which leads astray where hardly a row pays, is fetched in the same window. Where
        there is no room for the rows of a wider window, their kinks are smoothed over the last one; if they were, the
        rows that were fetched here are solved.
        """
        best, statement = self.record.iterate, self.statement
        width, n_near, fetched = self.last if found.n_near else (now.width, 0, True)
        charge = statement.problem.charge
        if found.window.fetch and (charge is Charge.HINGE or (fetched and not charge.smooth)):
            wider = (WIDER if fetched else 1.0) if self.failures + 1 < MOST_FAILURES else np.inf
            expected = min((n_near + 1) * wider, float(statement.size.n_samples * len(statement.problem.bundles)))
            if statement.cheap or expected <= statement.room:
                return _Round(best, width * wider, min(expected, statement.room))
            held = statement.room / (n_near + 1)
            if held > 2 and self.failures < MOST_FAILURES:
                return _Round(best, width * held, statement.room)
            if not fetched:  # smoothed once more, it would lead here once more
                return self._next(now, found)
            return _Round(best, width, np.inf)
        w, theta = best.w + 0.25 * (now.iterate.w - best.w), best.theta + 0.25 * (now.iterate.theta - best.theta)
        return replace(now, iterate=replace(now.iterate, w=w, theta=theta))

    def _is_doubtful(self, found: Survey) -> bool:
        """Whether a rising objective speaks against the last step: a smoothed hinge has another objective."""
        hinge = self.statement.problem.charge is Charge.HINGE
        return not hinge or (found.window.fetch and bool(np.isfinite(found.window.width)))

    def _is_crossed(self, iterate: Iterate) -> bool:
        """Whether rows that share a squared slack pay alike: how they split it shows in no sum over rows."""
        problem = self.statement.problem
        if not problem.shares_slacks or problem.charge is Charge.HINGE:
            return False
        first, partner = problem.bundles[problem.bundles[:, 1] >= 0].T
        offsets = problem.offsets(iterate.theta)
        return bool(np.any(offsets[first] + offsets[partner] > 0))


def _column_limits(statement: BlockStatement) -> str | None:
    if statement.size.n_features > DENSE_LIMIT:
        return f"blocks may have up to {DENSE_LIMIT} columns, and have {statement.size.n_features}; use data in memory"
    return None


register(
    Solver(
        "rows in blocks", "intervals in blocks", solve_in_blocks,
        (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC), penalties=tuple(Penalty), limits=_column_limits,
    )
)  # fmt: skip
