"""An interval that holds the optimum of an independent statement: a conic solver's point, judged in extended precision.

The upper end is the objective of a feasible point, evaluated on the data as given, so that a lower bound above it is
false whatever the accuracy of the conic solver. The lower end is the solver's own word, and only says how sharp the
upper end is. Rows are centred and scaled before they are solved, which every statement here allows because its rows
compare scores with thresholds or with one another.
"""

from dataclasses import dataclass, replace

import numpy as np

from referee.conic_form import ConicForm, Units
from referee.newton import polished
from referee.objective import Long, evaluate


@dataclass(frozen=True)
class Optimum:
    """lower <= optimum <= upper; ``error`` is what float64 may do to the upper value; ``point`` attains it.

    ``zero`` is what counts as nothing where the optimum may be 0.
    """

    lower: float
    upper: float
    error: float
    point: tuple | None
    status: str
    zero: float = 0.0

    @property
    def width(self):
        """Length of the interval as a share of its ends; 0 where the problem was found to have no feasible point."""
        if self.status == "PrimalInfeasible":
            return 0.0
        return (self.upper - self.lower) / max(abs(self.upper), abs(self.lower), self.zero, 1e-300)


def optimum(st):
    """The interval, from up to four solves: three in units that the last answer suggests, and one as a hard margin."""
    space = _Space(st)
    units = space.first_units()
    best = _origin(st, units.scores)
    for _ in range(3):
        answer = ConicForm(st, space.F, units).solve()
        best = _tighter(best, _judged(st, space, answer))
        closer = polished(st, space.F, answer)
        if closer is not None:
            best = _tighter(best, replace(_judged(st, space, closer), lower=-np.inf))  # the dual is not recomputed
        if best.width <= 1e-9 or not np.isfinite(best.upper) or answer.is_ray:
            break
        largest = float(np.abs(answer.w).max(initial=0.0))
        units = replace(units, objective=max(abs(best.upper), 1e-280), weights=largest or units.weights)
    if best.width > 1e-9 and len(st.cost) and st.penalty in ("l2", "l1") and not st.homogeneous:
        hard = replace(st, slack=np.full(len(st.slack), -1), cost=np.zeros(0), charge="hinge")
        if st.charge != "logistic":
            found = _judged(hard, space, ConicForm(hard, space.F, _Space(hard).first_units()).solve())
            best = _tighter(best, replace(found, lower=-np.inf))  # a hard margin's dual is no bound for soft ones
    return best


class _Space:
    """Centred rows F with the geometry of the statement, and the way back to its weights.

    Rows with more columns than rows become R' of F' = QR, kernels U sqrt(lambda) of their centred matrix.
    """

    def __init__(self, st):
        self.st, self.basis = st, None
        features = np.asarray(st.features, Long)
        mean = features.mean(axis=0)
        if st.is_kernel:
            centred = np.asarray(features - mean - mean[:, None] + mean.mean(), np.float64)
            values, vectors = np.linalg.eigh((centred + centred.T) / 2)
            kept = values > 1e-15 * max(values[-1], 0.0)
            root = np.sqrt(values[kept])
            self.F, self.basis = vectors[:, kept] * root, vectors[:, kept] / root
            return
        self.F = np.asarray(features - mean, np.float64)
        if st.penalty in ("l2", "ball") and self.F.shape[1] > len(self.F):
            self.basis, R = np.linalg.qr(self.F.T)
            self.F = R.T

    def first_units(self):
        """Scores of 1 (for homogeneous problems: that of unit weights, squared for the nu margin), weights to match."""
        st = self.st
        sigma = float(np.sqrt((self.F**2).sum(axis=1).mean())) or 1.0
        scores = {"ball": sigma}.get(st.penalty, sigma**2 if st.has_rho else 1.0)
        objective = float(np.max(st.cost)) if len(st.cost) else (scores / sigma) ** 2
        return Units(scores, scores / sigma, max(scores if st.homogeneous else objective, 1e-280))

    def points(self, answer):
        """Weights and thresholds on the data as given: from the answer and, with a kernel, from its multipliers."""
        st, u = self.st, np.asarray(answer.w, Long)
        ways = [u if self.basis is None else self.basis @ u]
        if st.is_kernel and not answer.is_ray:
            v = np.zeros(st.m + st.n_thresholds + 1)
            np.add.at(v, st.sample, st.sign * answer.multipliers)
            np.add.at(v, st.reference, -st.sign * answer.multipliers)
            ways.append(np.asarray(v[: st.m], Long))
        for w in ways:
            if st.penalty == "ball":
                w = self._inside(w, float(np.sqrt(u @ u)))
            theta = np.asarray(answer.theta, Long)
            shifted = theta + np.mean(np.asarray(st.features, Long) @ w - self.F @ u)
            if st.has_rho:
                shifted[-1] = max(theta[-1], 0)
            yield w, shifted

    def _inside(self, w, length):
        """The multiple of w that has the given length, if that is at most 1."""
        st = self.st
        norm = np.sqrt(w @ (st.features @ w) if st.is_kernel else w @ w)
        return w * (min(length, 1.0) / norm * (1 - 1e-15)) if norm > 0 else w


def _origin(st, score_unit):
    """w = 0 with all thresholds at 0, where that is feasible; the optimum of problems that collapse."""
    point = np.zeros(st.features.shape[1]), np.zeros(st.n_thresholds)
    judged = evaluate(st, *point)
    value = judged.value if judged.violation == 0 else np.inf
    zero = 1e-3 * (float(np.sum(st.cost)) if st.penalty == "box" else score_unit if st.homogeneous else 0.0)
    return Optimum(-np.inf, value, judged.error, point, "origin", zero)


def _tighter(one, other):
    """The lower of two upper ends, with the highest lower end that does not contradict it."""
    upper = one if one.upper + one.error <= other.upper + other.error else other
    sound = [v for v in (one.lower, other.lower) if v <= upper.upper + 1e-9 * abs(upper.upper)]
    status = other.status if np.isinf(upper.upper) else upper.status
    return replace(upper, lower=min(max(sound, default=-np.inf), upper.upper), status=status, zero=one.zero)


def _judged(st, space, answer):
    """The best of a few feasible points made from the solver's answer; a margin that is just missed is stretched."""
    if answer.is_ray:  # the objective falls without end along the answer: follow it for a while
        stretches = [1e6]
    else:
        stretches = [1.0] if st.homogeneous else [1.0, *(1 + 10.0**-k for k in range(15, 2, -1))]
    best, least = (np.inf, 0.0, None), np.inf
    for w, theta in space.points(answer):
        for stretch in stretches:
            place = stretch * w, _repaired(st, stretch * w, stretch * theta)
            judged = evaluate(st, *place)
            if judged.violation <= 1e-15 and judged.excess <= 0 and judged.value + judged.error < least:
                best, least = (judged.value, judged.error, place), judged.value + judged.error
    return Optimum(-np.inf if answer.is_ray else answer.dual, *best, answer.status)


def _repaired(st, w, theta):
    """Thresholds raised until theta[up] - theta[low] >= gap; those of a hard margin moved to where their rows hold."""
    if not len(st.cost):
        return _clipped(st, w, theta)
    theta = np.append(theta, Long(0))
    for _ in range(len(theta)):
        needed = theta[st.low] + st.gap
        if not len(st.up) or np.all(theta[st.up] >= needed):
            break
        np.maximum.at(theta, st.up, needed)
    return theta[:-1]


def _clipped(st, w, theta):
    if not st.n_thresholds:
        return theta
    s = np.asarray(st.features, Long) @ w
    low, high = np.full(st.n_thresholds, Long(-np.inf)), np.full(st.n_thresholds, Long(np.inf))
    ends, owner, above = s[st.sample] - st.sign * st.offset, st.reference - st.m, st.sign > 0
    np.minimum.at(high, owner[above], ends[above])
    np.maximum.at(low, owner[~above], ends[~above])
    return np.minimum(np.maximum(theta, low), high)
