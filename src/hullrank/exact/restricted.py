"""Searches over restricted weights: whole numbers of limited size, and at most so many features."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.branch_and_bound import maximise
from hullrank.exact.direction import raw_weights, widest_weights
from hullrank.exact.lattice import LatticeSearch, reason_against
from hullrank.exact.methods import Run
from hullrank.exact.scoring import GUARANTEE, ScoringSearch, few_weights, rounded_weights
from hullrank.exact.statement import Statement

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CLIMB = 0.2
_TRIES = 20_000
"""Share of the time that improving the first weights may take, and the most weights that are tried."""
_FEW = 6
"""Most dimensions in which the lattice program is set up for every choice of features, whatever its density."""


def whole_numbers(run: Run) -> None:
    """The best whole-number weights, the smallest of equal ones; starts are rounded to begin with."""
    statement, whole = run.statement, run.arrangement.integer
    run.clock.base = 0.0
    step = run.arrangement.step if whole else 1e-9 * max(1.0, run.arrangement.top - statement.reward)
    search = ScoringSearch(statement, run.clock, step=step, bound=run.bound - statement.reward)
    run.guarantee, run.rigorous = GUARANTEE, search.exact
    try:
        for start in run.starts:
            for w in rounded_weights(statement, raw_weights(statement, start)):
                if statement.rule.allows(w) and not run.clock.over:
                    search.offer(w)
        _climb(run, search)
        search.run()
    finally:
        run.bound = min(run.bound, search.bound + statement.reward)
        run.weights = search.w


def _climb(run: Run, search: ScoringSearch) -> None:
    """Change one weight at a time, or move it to another feature, as long as the value rises and time allows."""
    rule, tries = run.statement.rule, 0
    until = run.clock.elapsed + _CLIMB * (run.clock.seconds - run.clock.elapsed)
    value = -np.inf
    while search.w is not None and search.value > value:
        value = search.value
        for w in list(_moves(search.w, rule.largest or 1)):
            tries += 1
            if run.clock.elapsed > until or tries > _TRIES:
                return
            if rule.allows(w) and w.any():
                search.offer(w)


def _moves(w: Floats, largest: int) -> Iterator[Floats]:
    for j in range(len(w)):
        for k in [j, *np.flatnonzero(w == 0)] if w[j] else [j]:
            for size in range(-largest, largest + 1):
                moved = w.copy()
                moved[j] = 0.0
                moved[k] = size
                yield moved


def first_weights(run: Run) -> Floats:
    """Allowed weights near the starts, or of one feature: the answer where time ends before the search begins."""
    statement, d = run.statement, run.statement.X.shape[1]
    rule, whole = statement.rule, statement.rule.largest is not None
    found = [np.eye(d)[0] * (rule.signs_of(d)[0] or 1.0)]
    for start in run.starts:
        w = raw_weights(statement, start)
        found += rounded_weights(statement, w) if whole else [few_weights(statement, w)]
    return max((w for w in found if w.any() and rule.allows(w)), key=statement.recount)


def few_features(run: Run) -> None:
    """The best weights of every choice of so many features, one choice after the other."""
    statement, best = run.statement, -np.inf
    run.clock.base = 0.0
    top, proven = run.bound - statement.reward, -np.inf
    choices = comb(statement.X.shape[1], statement.rule.features or 0)
    for number, chosen in enumerate(_choices(run), start=1):
        if run.clock.over:
            break
        part = statement.columns(chosen)
        v, bound = _best_of(part, run, best)
        proven = max(proven, bound)
        if v is not None:
            w, value = widest_weights(part, v)
            if float(value) > best:
                best, run.weights = float(value), np.zeros(statement.X.shape[1])
                run.weights[chosen] = w
        if number == choices:
            run.bound = min(run.bound, max(proven, best) + statement.reward)
            top = min(top, max(proven, best))
        run.clock.record(best, top)


def _choices(run: Run) -> Iterator[Indices]:
    """Sets of features, those that weigh most in the starts first."""
    _, d = run.statement.X.shape
    size = np.max([np.abs(start) / np.linalg.norm(start) for start in run.starts], axis=0)
    order = np.argsort(-size, kind="stable")
    for choice in combinations(range(d), run.statement.rule.features or d):
        yield np.sort(order[list(choice)])


def _best_of(part: Statement, run: Run, best: float) -> tuple[Floats | None, float]:
    """A direction that beats the best value so far, or None, and the bound for these features."""
    arrangement, known = part.arrangement, best + part.reward
    if not len(arrangement.D):
        ones = np.ones(part.X.shape[1])
        return (ones if arrangement.top > known else None), arrangement.top - part.reward
    if reason_against(arrangement) or len(arrangement.D.T) > _FEW:
        outcome = maximise(arrangement, run.clock, known=known, seed=run.seed)
        return outcome.w, outcome.bound - part.reward
    search = LatticeSearch(arrangement, run.clock, start=arrangement.D.T @ arrangement.weight, seed=run.seed)
    search.value = max(search.value, known)
    search.run()
    better = arrangement.value(search.w) > known
    return (search.w if better else None), search.bound - part.reward
