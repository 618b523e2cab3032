"""The problems as the papers print them, handed to a generic conic solver. Nothing here is shared with the library."""

import cvxpy as cp
import numpy as np


def _minimum(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


def _weights(n, signs):
    """Weights of required signs: any where the sign is 0, else the sign times a size."""
    if signs is None:
        return cp.Variable(n)
    signs = np.asarray(signs)
    return cp.multiply(signs == 0, cp.Variable(n)) + cp.multiply(signs, cp.Variable(n, nonneg=True))


def hull(
    X, codes, edges, C, *, weights=None, loss="squared_hinge", intervals="free", slack="sample", l1=False,
    signs=None,
):  # fmt: skip
    """Fung et al. (18)-(21) and (28): two multipliers per edge, one slack per sample (or per sample and edge)."""
    m, n = X.shape
    weights = np.ones(m) if weights is None else weights
    w = _weights(n, signs)
    s = X @ w
    penalty = cp.norm1(w) if l1 else 0.5 * cp.sum_squares(w)
    charge = (
        (lambda y, k: C * weights[k] @ cp.square(y)) if loss == "squared_hinge" else (lambda y, k: C * weights[k] @ y)
    )
    members = {c: np.flatnonzero(codes == c) for c in np.unique(codes)}
    if loss == "logistic":
        return _logistic_hull(s, members, edges, C * weights, penalty, slack)
    e_hi, k_hi = _rows_of_edges(members, [hi for _, hi in edges])
    e_lo, k_lo = _rows_of_edges(members, [lo for lo, _ in edges])
    if slack == "edge":
        t = cp.Variable(len(edges))
        y_hi, y_lo = (cp.Variable(len(k), nonneg=True) for k in (k_hi, k_lo))
        constraints = [s[k_hi] - t[e_hi] + y_hi >= 0.5, t[e_lo] - s[k_lo] + y_lo >= 0.5]
        return _minimum(penalty + charge(y_hi, k_hi) + charge(y_lo, k_lo), constraints)
    y, gamma, gamma_hat = cp.Variable(m, nonneg=True), cp.Variable(len(edges)), cp.Variable(len(edges))
    constraints = [
        gamma[e_hi] + s[k_hi] + y[k_hi] >= 0,
        gamma_hat[e_lo] - s[k_lo] + y[k_lo] >= 0,
        gamma + gamma_hat <= -1,
    ]
    inner = [(a, b) for a, (_, hi) in enumerate(edges) for b, (lo, _) in enumerate(edges) if hi == lo]
    if intervals == "proper" and inner:
        below, above = np.array(inner).T
        constraints.append(-gamma[below] <= gamma_hat[above])
    return _minimum(penalty + charge(y, slice(None)), constraints)


def _rows_of_edges(members, classes):
    """For one end of every edge: the edge and the row of each sample of that class."""
    rows = [members[c] for c in classes]
    return np.repeat(np.arange(len(rows)), list(map(len, rows))), np.concatenate(rows)


def _logistic_hull(s, members, edges, price, penalty, slack):
    """log(1 + exp(-z)) of the distance z above L_c and below U_c (or beyond the edge's threshold), with no margin."""
    if slack == "edge":
        t = cp.Variable(len(edges))
        sides = [(sign, c, t[e]) for e, (lo, hi) in enumerate(edges) for sign, c in ((1, hi), (-1, lo))]
        constraints = []
    else:
        L, U = cp.Variable(max(members) + 1), cp.Variable(max(members) + 1)
        below, above = {hi for _, hi in edges}, {lo for lo, _ in edges}
        sides = [(1, c, L[c]) for c in below] + [(-1, c, U[c]) for c in above]
        constraints = [L[hi] >= U[lo] for lo, hi in edges] + [L[c] <= U[c] for c in below & above]
    charges = [price[members[c]] @ cp.logistic(-sign * (s[members[c]] - end)) for sign, c, end in sides]
    return _minimum(penalty + sum(charges), constraints)


def fixed_margin(X, codes, C, *, weights=None, loss="hinge", thresholds="immediate", least_gap=0.0, signs=None):
    """Shashua and Levin (2)-(5) with ordered thresholds; or a row per sample and threshold (Chu and Keerthi)."""
    m, n = X.shape
    weights = np.ones(m) if weights is None else weights
    K = codes.max() + 1
    w, b = _weights(n, signs), cp.Variable(K - 1)
    s = X @ w
    total = 0.5 * cp.sum_squares(w)
    constraints = [b[1:] - b[:-1] >= least_gap] if K > 2 else []
    for j in range(K - 1):
        for sign, held in ((-1, codes <= j), (1, codes > j)):
            if thresholds == "immediate":
                held = codes == (j if sign < 0 else j + 1)
            k = np.flatnonzero(held)
            if loss == "logistic":
                total = total + C * weights[k] @ cp.logistic(-sign * (s[k] - b[j]))
                continue
            xi = cp.Variable(len(k), nonneg=True)
            constraints.append(sign * (s[k] - b[j]) >= 1 - xi)
            total = total + C * weights[k] @ (xi if loss == "hinge" else cp.square(xi))
    return _minimum(total, constraints)


def nu_margin(X, codes, nu, *, weights=None, signs=None):
    """Shashua and Levin (32) with ordered thresholds."""
    m, n = X.shape
    weights = np.ones(m) if weights is None else weights
    K = codes.max() + 1
    w, b, rho = _weights(n, signs), cp.Variable(K - 1), cp.Variable(nonneg=True)
    s = X @ w
    N = sum(weights[codes == j].sum() + weights[codes == j + 1].sum() for j in range(K - 1))
    total = 0.5 * cp.sum_squares(w) - nu * rho
    constraints = [b[1:] >= b[:-1]] if K > 2 else []
    for j in range(K - 1):
        for sign, c in ((-1, j), (1, j + 1)):
            k = np.flatnonzero(codes == c)
            xi = cp.Variable(len(k), nonneg=True)
            constraints.append(sign * (s[k] - b[j]) >= rho - xi)
            total = total + weights[k] @ xi / N
    return _minimum(total, constraints)


def sum_of_margins(X, codes, C, *, weights=None, signs=None):
    """Shashua and Levin (14)-(20), the primal with |w| <= 1."""
    m, n = X.shape
    weights = np.ones(m) if weights is None else weights
    K = codes.max() + 1
    w, a, b = _weights(n, signs), cp.Variable(K - 1), cp.Variable(K - 1)
    s = X @ w
    total = cp.sum(a - b)
    constraints = [cp.norm2(w) <= 1, a <= b, *([b[:-1] <= a[1:]] if K > 2 else [])]
    for j in range(K - 1):
        for sign, c, end in ((-1, j, a[j]), (1, j + 1, b[j])):
            k = np.flatnonzero(codes == c)
            xi = cp.Variable(len(k), nonneg=True)
            constraints.append(sign * (s[k] - end) >= -xi)
            total = total + C * weights[k] @ xi
    return _minimum(total, constraints)


def sum_of_margins_dual(X, codes, C):
    """The dual of (14)-(20) with the constraints that (26)-(30) drop: S_j >= 0, S_{K-2} = 0, Lam_j + S_{j-1} >= 1."""
    K = codes.max() + 1
    direction, lam, delta, constraints = 0, [], [], []
    for j in range(K - 1):
        for sign, c, sums in ((-1, j, lam), (1, j + 1, delta)):
            k = np.flatnonzero(codes == c)
            mu = cp.Variable(len(k), nonneg=True)
            constraints.append(mu <= C)
            direction = direction + sign * (X[k].T @ mu)
            sums.append(cp.sum(mu))
    flow = [sum(lam[i] - delta[i] for i in range(j + 1)) for j in range(K - 1)]
    constraints += [S >= 0 for S in flow[:-1]] + [flow[-1] == 0]
    constraints += [lam[j] + (flow[j - 1] if j else 0) >= 1 for j in range(K - 1)]
    problem = cp.Problem(cp.Maximize(-cp.norm2(direction)), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


def pairs(X, y, C, *, weights, qid, loss="hinge", equal_queries=False, signs=None):
    """The ranking SVM over all pairs of a query, pair by pair; a pair weighs the product of its samples' weights."""
    w = _weights(X.shape[1], signs)
    total = 0.5 * cp.sum_squares(w)
    parts, masses = [], []
    for q in np.unique(qid):
        own = [(i, j) for i in np.flatnonzero(qid == q) for j in np.flatnonzero(qid == q) if y[i] > y[j]]
        if own:
            i, j = np.array(own).T
            mass = weights[i] * weights[j]
            parts.append(mass @ _pair_charge(loss, (X[i] - X[j]) @ w))
            masses.append(mass.sum())
    if equal_queries:
        return _minimum(total + C / len(parts) * sum(p / m for p, m in zip(parts, masses, strict=True)), [])
    return _minimum(total + C / sum(masses) * sum(parts), [])


def _pair_charge(loss, difference):
    if loss == "logistic":
        return cp.logistic(-difference)
    return cp.pos(1 - difference) if loss == "hinge" else cp.square(cp.pos(1 - difference))


def relaxation(X, y, epsilon, *, weights):
    """The relaxation of P_AUC(epsilon) with its z: the sum of 1 - z, z <= D.w + 1 - epsilon, in units of epsilon."""
    i, j = np.array([(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]).T
    w, z = cp.Variable(X.shape[1]), cp.Variable(len(i))
    constraints = [z >= 0, z <= 1, z <= (X[i] - X[j]) @ w + 1 - epsilon, cp.abs(w) <= 1]
    return _minimum((weights[i] * weights[j]) @ (1 - z) / epsilon, constraints)
