"""The problem of each estimator as rows, from its paper and its documented parameters; see ``objective``."""

import numpy as np

from referee.objective import Statement


def hull(features, codes, weights, edges, C, *, loss="squared_hinge", intervals="proper", slack="sample", **options):
    """Fung et al. (28): class c in [L_c, U_c], L_hi - U_lo >= 1 along edges (logistic: 0); or a threshold per edge."""
    m, edges = len(codes), np.asarray(edges).reshape(-1, 2)
    if slack == "edge":
        return _edges(features, codes, weights, edges, C, loss, options)
    lower, upper = interval_ends(edges)
    ends = [(c, 1.0) for c in lower] + [(c, -1.0) for c in upper]
    place = {end: number for number, end in enumerate(ends)}
    sample, reference, sign = [], [], []
    for number, (c, side) in enumerate(ends):
        own = np.flatnonzero(codes == c)
        sample.append(own)
        reference.append(np.full(len(own), m + number))
        sign.append(np.full(len(own), side))
    sample, sign = np.concatenate(sample), np.concatenate(sign)
    margin = 0.0 if loss == "logistic" else 1.0
    order = [(place[hi, 1.0], place[lo, -1.0], margin) for lo, hi in edges.tolist()]
    if intervals == "proper":
        order += [(place[c, -1.0], place[c, 1.0], 0.0) for c in lower if c in upper]
    up, low, gap = map(np.array, zip(*order, strict=True))
    shared = intervals == "free" and loss != "logistic"
    slacks, cost = _slacks(sample, weights, C, shared=shared)
    return Statement(
        features, sample, np.concatenate(reference), sign, np.zeros(len(sample)), slacks, cost, loss, len(ends),
        up, low, gap, **options,
    )  # fmt: skip


def interval_ends(edges):
    """The classes that have a lower end (something lies below them) and an upper end, both sorted."""
    edges = np.asarray(edges).reshape(-1, 2)
    return np.unique(edges[:, 1]).tolist(), np.unique(edges[:, 0]).tolist()


def _edges(features, codes, weights, edges, C, loss, options):
    """Edge e: s >= t_e + 1/2 - xi for its upper class, s <= t_e - 1/2 + xi for its lower class, slacks of its own."""
    m, edges = len(codes), sorted_edges(edges)
    parts = [
        (np.flatnonzero(codes == c), number, side)
        for number, (lo, hi) in enumerate(edges)
        for c, side in ((hi, 1.0), (lo, -1.0))
    ]
    sample = np.concatenate([own for own, _, _ in parts])
    reference = np.concatenate([np.full(len(own), m + number) for own, number, _ in parts])
    sign = np.concatenate([np.full(len(own), side) for own, _, side in parts])
    offset = np.full(len(sample), 0.0 if loss == "logistic" else 0.5)
    slacks, cost = _slacks(sample, weights, C)
    return Statement(features, sample, reference, sign, offset, slacks, cost, loss, len(edges), **options)


def sorted_edges(edges):
    """Edges (lo, hi) of class codes as thresholds are numbered: by lo, then by hi."""
    return sorted(map(tuple, np.asarray(edges).reshape(-1, 2).tolist()))


def fixed_margin(features, codes, weights, C, *, loss="hinge", thresholds="immediate", **options):
    """Shashua and Levin (2)-(5) with b_0 <= b_1 <= ...; "all" has a row for every sample and threshold."""
    sample, threshold, sign = _chain_rows(codes, thresholds)
    offset = np.full(len(sample), 0.0 if loss == "logistic" else 1.0)
    slacks, cost = _slacks(sample, weights, C)
    q = codes.max()
    order = np.arange(q - 1) if thresholds == "immediate" else np.zeros(0, int)
    return Statement(
        features, sample, len(codes) + threshold, sign, offset, slacks, cost, loss, q,
        order + 1, order, np.zeros(len(order)), **options,
    )  # fmt: skip


def nu_margin(features, codes, weights, nu, **options):
    """Shashua and Levin (32): min 1/2 |w|^2 - nu rho + (1/N) sum xi, margin rho >= 0; theta holds rho last."""
    sample, threshold, sign = _chain_rows(codes, "immediate")
    q, m = codes.max(), len(codes)
    slacks, cost = _slacks(sample, weights / weights[sample].sum(), 1.0)
    order = np.arange(q - 1)
    return Statement(
        features, sample, m + threshold, sign, np.zeros(len(sample)), slacks, cost, "hinge", q + 1,
        np.append(order + 1, q), np.append(order, q + 1), np.zeros(q), np.append(np.zeros(q), -nu), True, **options,
    )  # fmt: skip


def sum_of_margins(features, codes, weights, C, **options):
    """Shashua and Levin (14)-(20): theta = a_0, b_0, a_1, ...; min sum (a_j - b_j) + C sum xi with |w| <= 1."""
    sample, threshold, sign = _chain_rows(codes, "immediate")
    q, m = 2 * codes.max(), len(codes)
    slacks, cost = _slacks(sample, weights, C)
    order = np.arange(q - 1)
    return Statement(
        features, sample, m + 2 * threshold + (sign > 0), sign, np.zeros(len(sample)), slacks, cost, "hinge", q,
        order + 1, order, np.zeros(q - 1), np.tile([1.0, -1.0], q // 2), penalty="ball", **options,
    )  # fmt: skip


def pairs(features, above, below, pair_weights, C, *, loss="hinge", **options):
    """1/2 |w|^2 + C sum of weight * charge(1 - (s_i - s_j)); logistic: charge of s_i - s_j itself."""
    count = len(above)
    offset = np.full(count, 0.0 if loss == "logistic" else 1.0)
    return Statement(
        features, above, below, np.ones(count), offset, np.arange(count), C * pair_weights, loss, **options
    )  # fmt: skip


def relaxation(features, above, below, pair_weights, epsilon):
    """Bertsimas et al.: sum of weight * max(0, 1 - d) with d >= 1 - 1/eps, all of u = w / eps, |u_j| <= 1/eps."""
    count = len(above)
    both = np.tile(np.arange(count), 2)
    offset = np.concatenate([np.ones(count), np.full(count, 1 - 1 / epsilon)])
    slack = np.concatenate([np.arange(count), np.full(count, -1)])
    return Statement(
        features, above[both], below[both], np.ones(2 * count), offset, slack, pair_weights, "hinge",
        penalty="box", bound=1 / epsilon,
    )  # fmt: skip


def all_pairs(y, weights, qid, *, equal_queries=False):
    """Pairs (i, j) of one query with y_i > y_j and positive weights, weighing the product, in all 1 (or per query)."""
    above, below = np.nonzero((y[:, None] > y) & (qid[:, None] == qid) & np.outer(weights, weights).astype(bool))
    mass = weights[above].astype(np.longdouble) * weights[below]
    if not equal_queries:
        return above, below, mass / mass.sum()
    queries, place = np.unique(qid[above], return_inverse=True)
    totals = np.bincount(place, mass.astype(np.float64))
    return above, below, mass / totals[place] / len(queries)


def balanced_weights(codes, weights):
    """Class weights that give every class the same total: total / (K * total of the class)."""
    totals = np.bincount(codes, weights)
    return totals.sum() / (len(totals) * totals)


def _chain_rows(codes, thresholds):
    """Every sample below the thresholds from its class on and above those before it: samples, thresholds, signs."""
    q = codes.max()
    sample, threshold = (part.ravel() for part in np.meshgrid(np.arange(len(codes)), np.arange(q), indexing="ij"))
    sign = np.where(codes[sample] > threshold, 1.0, -1.0)
    if thresholds == "immediate":
        near = (codes[sample] == threshold) | (codes[sample] == threshold + 1)
        sample, threshold, sign = sample[near], threshold[near], sign[near]
    return sample, threshold, sign


def _slacks(sample, weights, C, *, shared=False):
    """Slack numbers of the rows and the price of every slack; a hard margin (C = inf) has none."""
    if np.isinf(C):
        return np.full(len(sample), -1), np.zeros(0)
    if not shared:
        return np.arange(len(sample)), C * weights[sample]
    owners, numbers = np.unique(sample, return_inverse=True)
    return numbers, C * weights[owners]
