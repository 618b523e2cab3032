"""An interval that holds the optimum of an independent statement: Clarabel's point, judged in extended precision.

The upper end is the objective of a feasible point, evaluated on the data as given, so that a lower bound above it is
false whatever the accuracy of the conic solver. The lower end is the solver's own word, and only says how sharp the
upper end is. Rows are centred and scaled before they are solved, which every statement here allows because its rows
compare scores with thresholds or with one another.
"""

from dataclasses import dataclass, replace

import clarabel
import numpy as np
import scipy.sparse as sp

from independent import Long, evaluate


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


@dataclass(frozen=True)
class _Form:
    """Centred rows F = centred features (or a factor of the kernel), and the way back to weights and a shift."""

    F: np.ndarray
    basis: np.ndarray | None
    mean: np.ndarray


def optimum(st):
    """The interval, from up to three solves: plain, rescaled by the first answer, and as a hard margin."""
    form = _form(st)
    sigma = float(np.sqrt((form.F**2).sum(axis=1).mean())) or 1.0
    h = {"ball": sigma}.get(st.penalty, sigma**2 if st.has_rho else 1.0)
    best, length = _origin(st, h), 1.0
    unit = _first_unit(st, sigma, h)
    for _ in range(3):
        answer = _solve(st, form, sigma, h, unit, length)
        found = _judge(st, form, answer)
        best = _tighter(best, found)
        if best.width <= 1e-9 or not np.isfinite(best.upper) or answer["ray"]:
            break
        unit = max(abs(best.upper), 1e-280)
        length = float(np.abs(answer["u"]).max(initial=0.0)) * length or 1.0
    if best.width > 1e-9 and len(st.cost) and st.penalty in ("l2", "l1") and not st.homogeneous:
        hard = replace(st, slack=np.full(len(st.slack), -1), cost=np.zeros(0))
        answer = _solve(hard, form, sigma, h, max((h / sigma) ** 2, 1e-280), 1.0)
        best = _tighter(best, replace(_judge(hard, form, answer), lower=-np.inf))  # its dual is not that of st
    return best


def _origin(st, h):
    """w = 0 with all thresholds at 0, where that is feasible; the optimum of problems that collapse."""
    point = np.zeros(st.features.shape[1]), np.zeros(st.n_thresholds)
    judged = evaluate(st, *point)
    value = judged.value if judged.violation == 0 else np.inf
    zero = 1e-3 * (float(np.sum(st.cost)) if st.penalty == "box" else h if st.homogeneous else 0.0)
    return Optimum(-np.inf, value, judged.error, point, "origin", zero)


def _tighter(one, other):
    """The lower of two upper ends, with the highest lower end that does not contradict it."""
    upper = one if one.upper + one.error <= other.upper + other.error else other
    sound = [v for v in (one.lower, other.lower) if v <= upper.upper + 1e-9 * abs(upper.upper)]
    status = other.status if np.isinf(upper.upper) else upper.status
    return replace(upper, lower=min(max(sound, default=-np.inf), upper.upper), status=status, zero=one.zero)


def _form(st):
    features = np.asarray(st.features, Long)
    mean = features.mean(axis=0)
    if not st.is_kernel:
        F = np.asarray(features - mean, np.float64)
        if st.penalty in ("l2", "ball") and F.shape[1] > len(F):
            Q, R = np.linalg.qr(F.T)
            return _Form(R.T, Q, mean)
        return _Form(F, None, mean)
    centred = np.asarray(features - mean - mean[:, None] + mean.mean(), np.float64)
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    kept = values > 1e-15 * max(values[-1], 0.0)
    root = np.sqrt(values[kept])
    return _Form(vectors[:, kept] * root, vectors[:, kept] / root, mean)


def _first_unit(st, sigma, h):
    if st.homogeneous:
        return h
    if not len(st.cost):
        return (h / sigma) ** 2
    return max(float(np.max(st.cost)), 1e-280)


def _settings():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = 1e-12
    settings.tol_feas = 1e-12
    settings.tol_ktratio = 1e-10
    return settings


def _solve(st, form, sigma, h, unit, length):
    """Clarabel on u (weights w = u * length * h / sigma), scores and thresholds in units of h, objective in ``unit``."""
    F = form.F * (length / sigma)
    m, r = F.shape
    q, S, R = st.n_thresholds, len(st.cost), len(st.sample)
    logistic, l1 = st.charge == "logistic", st.penalty == "l1"
    at_s, at_t, at_x = r, r + m, r + m + q
    at_l = at_x + S
    n = at_l + (r if l1 else 0) + (2 * R if logistic else 0)
    P, cost = np.zeros(n), np.zeros(n)
    if st.penalty == "l2":
        P[:r] = (length * h / sigma) ** 2
    if l1:
        cost[at_l : at_l + r] = length * h / sigma
    if len(st.linear):
        cost[at_t:at_x] = st.linear * h
    each = _slack_units(st, h, unit)
    if st.charge == "squared_hinge":
        P[at_x:at_l] = 2 * st.cost * (h * each) ** 2
    else:
        cost[at_x:at_l] = st.cost * h * each
    build = _Rows(n)
    build.add([(np.arange(m), at_s + np.arange(m), -np.ones(m)), _dense(F)], np.zeros(m), clarabel.ZeroConeT)
    rows = _row_entries(st, at_s, at_t)
    soft = np.flatnonzero(st.slack >= 0)
    if logistic:
        first = at_l + np.arange(2 * R)
        _logistic(build, rows, at_x, first, R)
    else:
        slack = (soft, at_x + st.slack[soft], each[st.slack[soft]])
        build.add([*rows, slack], st.offset / h, clarabel.NonnegativeConeT)
        build.add([(np.arange(S), at_x + np.arange(S), np.ones(S))], np.zeros(S), clarabel.NonnegativeConeT)
    if len(st.up):
        e = np.arange(len(st.up))
        inner = st.low < q
        entries = [(e, at_t + st.up, np.ones(len(e))), (e[inner], at_t + st.low[inner], -np.ones(inner.sum()))]
        build.add(entries, st.gap / h, clarabel.NonnegativeConeT)
    j = np.arange(r)
    for side in (1.0, -1.0):
        if l1:
            entries = [(j, j, np.full(r, side)), (j, at_l + j, np.ones(r))]
            build.add(entries, np.zeros(r), clarabel.NonnegativeConeT)
        if st.penalty == "box":
            edge = np.full(r, -st.bound * sigma / h / length)
            build.add([(j, j, np.full(r, side))], edge, clarabel.NonnegativeConeT)
    if st.penalty == "ball":
        edge = np.concatenate([[-sigma / h / length], np.zeros(r)])
        build.add([(j + 1, j, np.ones(r))], edge, clarabel.SecondOrderConeT)
    A, b, cones = build.parts()
    solver = clarabel.DefaultSolver(sp.diags(P / unit, format="csc"), cost / unit, A, b, cones, _settings())
    solution = solver.solve()
    x, dual = np.array(solution.x), np.array(solution.z)
    status = str(solution.status)
    alpha = dual[m : m + R] if not logistic else dual[m : m + 6 * R].reshape(-1, 6)[:, 3]
    return {
        "u": x[:r], "w": x[:r] * (length * h / sigma), "theta": x[at_t:at_x] * h, "alpha": alpha * (unit / h),
        "dual": solution.obj_val_dual * unit, "status": status, "ray": status == "DualInfeasible",
    }  # fmt: skip


def _slack_units(st, h, unit):
    """What one unit of each slack stands for, so that it costs about as much as the whole objective."""
    if st.charge == "logistic":
        return np.ones(len(st.cost))
    price = np.asarray(st.cost, float) * h / unit
    each = 1 / np.sqrt(2 * price * h) if st.charge == "squared_hinge" else 1 / price
    return np.clip(each, 1e-20, 1e6)


class _Rows:
    """Constraints (entries @ x - offset) in a cone, piled up as Clarabel's A x + s = b with s in the cone."""

    def __init__(self, n):
        self.n, self.height, self.entries, self.b, self.cones = n, 0, [], [], []

    def add(self, entries, offset, cone, size=None):
        for i, j, values in entries:
            self.entries.append((np.asarray(i) + self.height, np.asarray(j), -np.asarray(values, float)))
        self.b.append(-np.asarray(offset, float))
        self.height += len(offset)
        self.cones += [cone(len(offset))] if size is None else [cone() for _ in range(len(offset) // size)]

    def parts(self):
        i, j, values = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        return sp.csc_matrix((values, (i, j)), (self.height, self.n)), np.concatenate(self.b), self.cones


def _dense(F):
    i, j = (part.ravel() for part in np.indices(F.shape))
    return i, j, F.ravel()


def _row_entries(st, at_s, at_t):
    """sign * (s[sample] - reference) - rho of every row."""
    R = np.arange(len(st.sample))
    other, threshold = st.reference < st.m, st.reference >= st.m
    entries = [
        (R, at_s + st.sample, st.sign),
        (R[other], at_s + st.reference[other], -st.sign[other]),
        (R[threshold], at_t + st.reference[threshold] - st.m, -st.sign[threshold]),
    ]
    if st.has_rho:
        entries.append((R, np.full(len(R), at_t + st.n_thresholds - 1), -np.ones(len(R))))
    return entries


def _logistic(build, rows, at_x, first, R):
    """xi >= log(1 + exp(-z)): p + q <= 1 with p >= exp(-xi), q >= exp(-z - xi); a cone (x, 1, y) has y >= exp(x)."""
    k = np.arange(R)
    entries = [(6 * k, at_x + k, -np.ones(R)), (6 * k + 2, first[:R], np.ones(R))]
    entries += [(6 * i + 3, j, -values) for i, j, values in rows]
    entries += [(6 * k + 3, at_x + k, -np.ones(R)), (6 * k + 5, first[R:], np.ones(R))]
    build.add(entries, np.tile([0.0, -1.0, 0.0], 2 * R), clarabel.ExponentialConeT, size=3)
    build.add([(k, first[:R], -np.ones(R)), (k, first[R:], -np.ones(R))], -np.ones(R), clarabel.NonnegativeConeT)


def _judge(st, form, answer):
    """The best of a few feasible points made from the solver's answer."""
    best, least = (np.inf, 0.0, None), np.inf
    if answer["ray"]:  # the objective falls without end along the answer: follow it for a while
        points = [(1e6 * w, 1e6 * theta) for w, theta in _points(st, form, answer)]
    else:
        stretch = [0.0] + [10.0**-k for k in range(15, 2, -1)] if not st.homogeneous else [0.0]
        points = [((1 + t) * w, (1 + t) * theta) for w, theta in _points(st, form, answer) for t in stretch]
    for w, theta in points:
        theta = _ordered(st, theta) if len(st.cost) else _clipped(st, w, theta)
        judged = evaluate(st, w, theta)
        if judged.violation <= 1e-15 and judged.excess <= 0 and judged.value + judged.error < least:
            best, least = (judged.value, judged.error, (w, theta)), judged.value + judged.error
    return Optimum(-np.inf if answer["ray"] else answer["dual"], *best, answer["status"])


def _points(st, form, answer):
    """Weights and thresholds on the data as given: from the primal answer and, with a kernel, from the multipliers."""
    u, theta = np.asarray(answer["w"], Long), np.asarray(answer["theta"], Long)
    mine = form.F @ u
    ways = [u if form.basis is None else form.basis @ u]
    if st.is_kernel and not answer["ray"]:
        v = np.zeros(st.m + st.n_thresholds + 1)
        np.add.at(v, st.sample, st.sign * answer["alpha"])
        np.add.at(v, st.reference, -st.sign * answer["alpha"])
        ways.append(np.asarray(v[: st.m], Long))
    points = []
    for w in ways:
        if st.penalty == "ball":
            norm = np.sqrt(w @ (st.features @ w) if st.is_kernel else w @ w)
            if norm > 1 or (st.is_kernel and norm > 0):
                scale = min(1.0, np.sqrt(float(u @ u))) / norm
                w = w * scale * (1 - 1e-15)
        scores = np.asarray(st.features, Long) @ w
        shift = np.mean(scores - mine)
        shifted = theta + shift
        if st.has_rho:
            shifted[-1] = max(theta[-1], 0)
        points.append((w, shifted))
    return points


def _ordered(st, theta):
    """Thresholds raised until theta[up] - theta[low] >= gap holds exactly."""
    theta = np.append(theta, Long(0))
    for _ in range(len(theta)):
        needed = theta[st.low] + st.gap
        if not len(st.up) or np.all(theta[st.up] >= needed):
            break
        np.maximum.at(theta, st.up, needed)
    return theta[:-1]


def _clipped(st, w, theta):
    """Thresholds of a hard margin moved to where all of their rows hold, if there is such a place."""
    if not st.n_thresholds:
        return theta
    s = np.asarray(st.features, Long) @ w
    low, high = np.full(st.n_thresholds, Long(-np.inf)), np.full(st.n_thresholds, Long(np.inf))
    ends, owner, above = s[st.sample] - st.sign * st.offset, st.reference - st.m, st.sign > 0
    np.minimum.at(high, owner[above], ends[above])
    np.maximum.at(low, owner[~above], ends[~above])
    return np.minimum(np.maximum(theta, low), high)
