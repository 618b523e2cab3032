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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell
from hullrank.exceptions import HullrankError
from hullrank.problem.block_statement import BlockEvidence, BlockStatement, no_rows
from hullrank.problem.block_survey import Survey, Window, nothing_charged
from hullrank.problem.certificate import Status, relative_gap
from hullrank.problem.charges import Charge
from hullrank.problem.settled_dual import settled_dual
from hullrank.problem.statement import Grade, Point, Solution
from hullrank.solvers._block_levels import levels, settling_width, solve_directly
from hullrank.solvers._block_terms import Units, centred_beside, fetched, settled_terms, without_small_weights
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError
from hullrank.solvers.base import Options
from hullrank.solvers.interior_point import Iterate, interior_point
from hullrank.solvers.newton import quadratic_minimum

Floats = NDArray[np.float64]
NAME, NEWTON = "interior point on unsettled rows", "semismooth Newton"
NARROWER = 8.0  # by how much a window shrinks from round to round
NARROWER_IN_MEMORY = 4.0  # the same where passes are cheap: a window too narrow costs more than another round
WIDER = 64.0  # and by how much it grows where rows were settled wrongly
MOST_FAILURES = 3  # after so many of them all rows are near their kink
MOST_ROUNDS = 16
ROUNDS_FROM_START = 5
SOLUTION_CAUTION = 3.0  # a window around a known solution is this many times the error that its gap allows


@dataclass(frozen=True)
class _Round:
    """The iterate to be surveyed next, the width of the window (scaled units), and how many slacks it may contain."""

    iterate: Iterate
    width: float
    expected: float


def solve_in_blocks(statement: BlockStatement, options: Options) -> Solution:
    """Solve a statement over blocks, from the solution of its drawn samples."""
    if statement.size.n_features > DENSE_LIMIT:
        raise HullrankError(
            f"rows in blocks may have up to {DENSE_LIMIT} columns, and these have {statement.size.n_features}; use "
            "data in memory"
        )
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
    """The best point and the best lower bound so far, which need not come from the same round."""

    def __init__(self, statement: BlockStatement, options: Options) -> None:
        self.statement, self.options, self.units = statement, options, Units(statement)
        self.step = _Step(statement, self.units, options)
        self.primal, self.best, self.best_iterate, self.failures = np.inf, None, None, 0
        self.grade, self.evidence, self.pending = None, None, None

    best: Survey | None
    best_iterate: Iterate | None
    grade: Grade | None
    evidence: BlockEvidence | None
    pending: BlockEvidence | None  # that of the last step, not graded yet

    def run(self, first: _Round, most_rounds: int) -> Solution:
        """Rounds of surveying and solving from the first one on."""
        with np.errstate(all="ignore"):  # a point far off may overflow; it is then worse than the best one
            status = self._rounds(first, most_rounds)
        assert self.best is not None
        assert self.evidence is not None
        evidence = replace(self.evidence, survey=self.best)
        name = NEWTON if self.statement.problem.charge.smooth else NAME
        return Solution(self.best.point, evidence, status, self.step.iterations, name)

    def started(self, start: Point) -> _Round:
        """The first round from a known solution."""
        statement, iterate = self.statement, self.units.scaled(start)
        found = statement.survey(self.units.stated(iterate))
        error = float(np.sqrt(2 * self.options.tol * abs(self.units.objective(iterate, found))))
        width = min(SOLUTION_CAUTION * error, settling_width(statement, iterate))
        return _Round(iterate, width, 0.0)

    def sampled(self) -> _Round:
        """The first round from the solution of the drawn samples, which is found on samples of growing size.

        Where passes are cheap, a hinge is smoothed first: a Newton step costs less than solving what it makes clear.
        """
        statement, units, problem = self.statement, self.units, self.statement.problem
        parts = levels(statement)
        iterate = solve_directly(parts[0], 1e-3, self.options.max_iter, self.options.verbose)
        self.step.iterations = iterate.iterations
        for before, level in pairwise(parts):
            if iterate.status is Status.INTERRUPTED:
                break
            iterate = self._settled_once(level, iterate, settling_width(before, iterate))
        width = settling_width(parts[-1], iterate)
        if statement.cheap and problem.charge is Charge.HINGE and not problem.has_rho and np.isfinite(width):
            return _Round(iterate, width, np.inf)
        window = self._window(iterate, width, fetch=True, model=False)
        share = parts[-1].survey(units.stated(iterate), window).n_near / max(len(statement.samples.codes), 1)
        return _Round(iterate, width, share * statement.size.n_samples)

    def _settled_once(self, level: BlockStatement, iterate: Iterate, width: float) -> Iterate:
        """A Newton step on a sample with the hinge smoothed; where that has no answer, fetched rows are solved."""
        smooth = not (self.statement.problem.has_rho or np.isinf(width))
        for fetch in (False, True) if smooth else (True,):
            window = self._window(iterate, width, fetch, model=True)
            found = level.survey(self.units.stated(iterate), window)
            try:
                return self.step(level, iterate, found, 1e-4, min(width, 1.0))[0]
            except SingularSystemError:
                continue
        return iterate

    def _rounds(self, now: _Round, most_rounds: int) -> Status:
        """Survey and solve in turns; where passes are cheap, a pass that may be the last does without the model."""
        lean = self.statement.cheap and self.statement.problem.charge is Charge.SQUARED_HINGE
        for turn in range(most_rounds):
            try:
                found = self._survey(now, model=turn == 0 or not lean)
                worse = self._note(found, now.iterate)
                if self._closed():
                    return Status.CONVERGED
                if now.iterate.status is Status.INTERRUPTED:
                    return Status.INTERRUPTED
                if self.statement.cheap and self._is_crossed(now.iterate):
                    return Status.STALLED
                if self.step.iterations >= self.options.max_iter * MOST_ROUNDS:
                    return Status.MAX_ITER
                if lean and turn > 0 and not worse:
                    found = self._survey(now, model=True)
                if worse and self.failures >= MOST_FAILURES * (1 if self.statement.cheap else 2):
                    return Status.STALLED
                bare = found.n_near == 0 and self.statement.problem.charge is Charge.HINGE  # a line has no minimum
                now = (
                    self._other(now, found) if (worse and self._is_doubtful(found)) or bare else self._next(now, found)
                )
                self.failures += worse and found.window.fetch
            except KeyboardInterrupt:
                if self.best is None:
                    raise
                return Status.INTERRUPTED
        return Status.STALLED

    def _survey(self, now: _Round, model: bool) -> Survey:
        """A pass over all rows at the current iterate; the margin of nu would bend a smoothed charge, too."""
        fetch = now.expected <= self.statement.room or self.statement.problem.has_rho or np.isinf(now.width)
        return self.statement.survey(self.units.stated(now.iterate), self._window(now.iterate, now.width, fetch, model))

    def _window(self, iterate: Iterate, width: float, fetch: bool, model: bool) -> Window:
        return Window(width * self.units.ratio(iterate), fetch, model)

    def _note(self, found: Survey, iterate: Iterate) -> bool:
        """Keep what is better: the point, or the lower bound; tells whether the point is worse than the best one."""
        statement, problem = self.statement, self.statement.problem
        primal = statement.objective(found.point, found)
        worse = self.best is not None and not primal <= self.primal + 1e-12 * abs(self.primal)
        if self.best is None or primal < self.primal:
            self.primal, self.best, self.best_iterate = primal, found, iterate
        new = self.pending if problem.charge is Charge.HINGE else None
        if new is None:
            t = self.units.back * iterate.order_multipliers
            new = BlockEvidence(t, found, settled_dual(problem, found), found.point)
        graded = [(self._graded(each), each) for each in (new, self.evidence) if each is not None]
        self.grade, self.evidence = max(graded, key=lambda pair: np.nan_to_num(pair[0].dual, nan=-np.inf))
        if problem.homogeneous:
            self._try_zero()
        gap = relative_gap(self.grade.primal, self.grade.dual, self.grade.floor)
        tell(gap, lambda: self._report(found, primal, gap), self.options.verbose)
        return worse

    def _graded(self, evidence: BlockEvidence) -> Grade:
        assert self.best is not None
        return self.statement.grade(self.best.point, replace(evidence, survey=self.best))

    def _closed(self) -> bool:
        """Whether the gap is at most the tolerance, and not negative by more than rounding can explain."""
        assert self.grade is not None
        grade = self.grade
        sound = grade.dual <= grade.primal + max(10 * grade.noise, 1e-12 * abs(grade.primal))
        return sound and relative_gap(grade.primal, grade.dual, grade.floor) <= self.options.tol

    def _report(self, found: Survey, primal: float, gap: float) -> str:
        return (
            f"pass {self.statement.passes}  objective {primal:.10g}  gap {gap:.2g}  {found.n_near} slacks near their "
            f"kink (window {found.window.width:.2g}, {'fetched' if found.window.fetch else 'smoothed'})"
        )

    def _next(self, now: _Round, found: Survey) -> _Round:
        """Solve beside the sums of this pass; the next window is narrower."""
        mu = min(now.width, 1.0)
        try:
            iterate, self.pending = self.step(self.statement, now.iterate, found, self.options.tol, mu)
        except SingularSystemError:  # a threshold without a row near its kink: fetch them, or take in more
            return _Round(now.iterate, now.width * (1.0 if np.isinf(now.expected) else 2.0), found.n_near)
        if np.isinf(now.width):
            return _Round(iterate, settling_width(self.statement, iterate), found.n_near / NARROWER)
        narrower = NARROWER_IN_MEMORY if self.statement.cheap else NARROWER
        if not (found.window.fetch or self.statement.cheap):  # fetch next as many rows as there is room for
            narrower = float(np.clip(found.n_near / self.statement.room, 2.0, NARROWER))
        return _Round(iterate, now.width / narrower, found.n_near / narrower)

    def _other(self, now: _Round, found: Survey) -> _Round:
        """From the best point once more: with a wider window if rows were settled, else a shorter step.

        Where there is no room for the rows of a wider window, their kinks are smoothed over the last one.
        """
        best, statement = self.best_iterate, self.statement
        assert best is not None
        if found.window.fetch and not statement.problem.charge.smooth:
            wider = WIDER * NARROWER**self.failures if self.failures + 1 < MOST_FAILURES else np.inf
            expected = min((found.n_near + 1) * wider, float(statement.size.n_samples * len(statement.problem.bundles)))
            if statement.cheap or statement.problem.has_rho or expected <= statement.room:
                return _Round(best, now.width * wider, expected)
            held = statement.room / (found.n_near + 1)
            if held > 2 and self.failures < MOST_FAILURES:
                return _Round(best, now.width * held, statement.room)
            return _Round(best, now.width * NARROWER, np.inf)
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

    def _try_zero(self) -> None:
        """Where a homogeneous problem is proven to have nothing better than 0, the point is 0.

        There all scores, thresholds and charges are 0, so that no pass is needed.
        """
        assert self.evidence is not None
        zero = nothing_charged(self.statement.problem, self.statement.size.n_features)
        grade = self.statement.grade(zero.point, replace(self.evidence, survey=zero))
        if -grade.dual <= self.options.tol * grade.floor:
            self.best, self.grade = zero, grade


class _Step:
    """From a pass to the next iterate and its evidence; counts iterations."""

    def __init__(self, statement: BlockStatement, units: Units, options: Options) -> None:
        self.units, self.options = units, options
        self.nothing = no_rows(statement.problem, statement.size.n_features)
        linear = statement.problem.charge is Charge.HINGE
        # of the tolerance that solving the fetched rows may use up; of L1 the gap grows with what X'alpha exceeds 1
        self.share = 1e-6 if statement.problem.l1 else (0.3 if linear else 1e-3)
        self.balance = 1e-6 if linear else 1e-9
        self.iterations = 0

    def __call__(
        self, statement: BlockStatement, iterate: Iterate, found: Survey, tol: float, mu: float
    ) -> tuple[Iterate, BlockEvidence | None]:
        """Solve the fetched rows beside the sums of the others, or take a Newton step where none were fetched."""
        units, problem = self.units, self.units.problem
        hinge = problem.charge is Charge.HINGE
        exact = found.window.fetch and not problem.charge.smooth
        near = fetched(statement, found, units) if exact else self.nothing
        terms = settled_terms(units, found, iterate, near)
        layout = replace(near.layout, cost=near.layout.cost * units.price)
        if exact and near.layout.n_rows:
            point = interior_point(
                problem, near.rows, layout, tol=tol * self.share, max_iter=self.options.max_iter,
                settled=terms, start=iterate, mu=mu, unit=self._unit(iterate, found), balance=self.balance,
                verbose=self.options.verbose,
            )  # fmt: skip
        else:
            point = quadratic_minimum(problem, terms, iterate, self.nothing.layout)
        self.iterations += max(point.iterations, 1)
        evidence = None
        if problem.l1:
            point = replace(point, w=without_small_weights(problem, terms, near.rows, layout, point))
        if exact and hinge:
            point = replace(point, theta=centred_beside(units, found, near, layout, point))
            evidence = BlockEvidence(
                units.back * point.order_multipliers, found, settled_dual(statement.problem, found), found.point, near,
                point.multipliers,
            )  # fmt: skip
        return replace(point, iterations=self.iterations), evidence

    def _unit(self, iterate: Iterate, found: Survey) -> float:
        """The size of the objective; 0 (unknown) where a homogeneous problem has not come below 0 yet."""
        value = self.units.objective(iterate, found)
        return max(-value, 0.0) if self.units.problem.homogeneous else abs(value)
