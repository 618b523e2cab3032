"""Fit a random problem and say what is false about it, from public attributes and the data alone.

A failure has a kind:
  crash      an exception other than one that names its reason
  slow       the fit took longer than its limit of processor time
  refused    an error with a reason, which the independent statement proves wrong
  scores     score_samples is not what coef_ or dual_coef_ give
  primal     certificate_.primal is not the objective of the model on the data
  precision  converged, though two evaluations of the same model in float64 differ by more than ten times tol
  dual       certificate_.dual lies above the objective of a feasible point, or above certificate_.primal
  status     converged although the relative gap exceeds tol, or the other way round, or without its warning
  floor      the relative gap is measured against more than the two objectives, or the floor that math.md allows
  finite     a value that is not finite under a status that does not say why
"""

import signal
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import independent_statements as statements
from hullrank.exceptions import HullrankError, InfeasibleParameterError, KernelError, NotSeparableError
from independent import evaluate, kernel_values, resolved_gamma
from referee import optimum

BLUNT = 1e-6  # a referee's interval wider than this share of its value is counted


@dataclass
class Verdict:
    """What became of a case; ``failures`` are (kind, detail)."""

    case: object
    outcome: str = "graded"
    failures: list = field(default_factory=list)
    blunt: bool = False
    status: str = ""

    def fail(self, kind, detail):
        self.failures.append((kind, detail))


class OutOfTimeError(BaseException):
    """The fit took longer than its limit."""


@contextmanager
def time_limit(seconds):
    """Raise OutOfTimeError after so many seconds of processor time."""

    def stop(*_):
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judge(case, seconds=30.0, fit=None):
    """The verdict on one case; ``fit`` (default: the case's own) returns the fitted model."""
    verdict = Verdict(case)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with time_limit(seconds):
                model = (fit or case.fit)()
        except OutOfTimeError:
            verdict.outcome = "slow"
            verdict.fail("slow", f"no answer within {seconds:g} s of processor time")
            return verdict
        except Exception as error:
            _judge_error(verdict, error)
            return verdict
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    verdict.status = str(model.certificate_.status)
    with np.errstate(all="ignore"):
        _judge_model(verdict, model, warned)
    return verdict


def _judge_error(verdict, error):
    """An error with a reason is fine unless the reason is false; anything else is a crash."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    ours = "hullrank" in place.filename or "sklearn/utils" in place.filename
    told = isinstance(error, HullrankError) or (type(error) is ValueError and ours and len(str(error)) > 20)
    if not told:
        verdict.outcome = "crash"
        where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
        verdict.fail("crash", f"{type(error).__name__} in {where}: {str(error)[:150]}")
        return
    verdict.outcome = "refused"
    false = _falsely_refused(verdict.case, error)
    if false:
        verdict.fail("refused", f"{type(error).__name__}: {str(error)[:150]} [{false}]")


def _falsely_refused(case, error):
    """Why the stated reason is false, or None."""
    with np.errstate(all="ignore"):
        if isinstance(error, NotSeparableError):
            best = optimum(stated(case))
            if best.error < 1e-3 * abs(best.upper) and np.isfinite(best.upper):
                return f"separated with objective {best.upper:.6g}"
            return None
        if isinstance(error, InfeasibleParameterError):
            best = optimum(stated(case))
            if np.isfinite(best.lower) and best.width < 1e-6 and best.upper < -1e-6 * (best.error + 1e-300):
                return f"the optimum is {best.upper:.6g}"
            return None
        indefinite = "definite" in str(error) and isinstance(error, KernelError)
    if indefinite:
        K = stated(case).features.astype(float)
        values = np.linalg.eigvalsh(K)
        return f"smallest eigenvalue {values[0]:.2g} of {values[-1]:.2g}" if values[0] > -1e-9 * values[-1] else None
    return "not a reason that these problems can have"


def stated(case, model=None):
    """The independent statement of a case, with what its fit chose itself (nu, C, the draw of pairs) if there is one."""
    m, params = len(case.y), case.params
    weights = np.ones(m) if case.weights is None else case.weights
    kept = np.flatnonzero(weights)
    X, y, weights = case.X, case.y[kept], weights[kept]
    if case.name == "LinearRelaxationRanker":
        qid = np.zeros(len(kept), int) if case.qid is None else case.qid[kept]
        above, below, _ = statements.all_pairs(y, weights, qid)
        mass = weights[above] * weights[below]
        return statements.relaxation(X[kept], above, below, mass, params["epsilon"])
    options = {}
    if "Pairs" in case.name:
        features, options = _features(case, X, np.ones(m) if case.weights is None else case.weights)
        return _pair_statement(case, model, features, options)
    X = X[np.ix_(kept, kept)] if params.get("kernel") == "precomputed" else X[kept]
    classes, codes = np.unique(y, return_inverse=True)
    if model is not None and case.edges is not None:
        place = {label: k for k, label in enumerate(model.classes_.tolist())}
        codes = np.array([place[label] for label in y.tolist()])
    else:
        place = {label: k for k, label in enumerate(classes.tolist())}
    features, options = _features(case, X, weights)
    if params.get("class_weight") is not None:
        given = params["class_weight"]
        factor = statements.balanced_weights(codes, weights)
        if given != "balanced":
            factor = np.array([given[label] for label in sorted(place, key=place.get)])
        weights = weights * factor[codes]
    if case.name == "NuMarginClassifier":
        nu = model.nu_ if model is not None else params["nu"]
        return statements.nu_margin(features, codes, weights, nu, **options)
    if case.name == "SumOfMarginsClassifier":
        C = model.C_ if model is not None else params["C"]
        return statements.sum_of_margins(features, codes, weights, C, **options)
    if case.name == "FixedMarginClassifier":
        return statements.fixed_margin(
            features, codes, weights, params["C"], loss=params["loss"], thresholds=params["thresholds"], **options
        )
    return statements.hull(
        features, codes, weights, _edge_codes(case, place), params["C"], loss=params["loss"],
        intervals=params["intervals"], slack=params["slack"], penalty=params.get("penalty", "l2"), **options,
    )  # fmt: skip


def _edge_codes(case, place):
    if case.edges is not None:
        return [(place[lo], place[hi]) for lo, hi in case.edges]
    K = len(place)
    if case.params["order"] == "full":
        return [(a, b) for a in range(K) for b in range(a + 1, K)]
    return [(c, c + 1) for c in range(K - 1)]


def has_kernel(params):
    """Whether the model predicts with kernel values."""
    return params.get("kernel", "linear") != "linear" or "approximation" in params or "norm" in params


def _features(case, X, weights):
    """X, or the kernel matrix with what float64 may do to it; the coefficient norm is linear in rows of the kernel."""
    params = case.params
    if not has_kernel(params):
        return X, {}
    kernel = params.get("kernel", "linear")
    gamma = 1.0 if kernel in ("precomputed", "linear") else resolved_gamma(params.get("gamma", "scale"), X, weights)
    K, doubt = kernel_values(
        X, kernel, gamma=gamma, degree=params.get("degree", 3), coef0=params.get("coef0", 0.0)
    )  # fmt: skip
    return K, {"is_kernel": params.get("norm") != "coefficient", "doubt": doubt}


def _pair_statement(case, model, features, options):
    m, params = len(case.y), case.params
    weights = np.ones(m) if case.weights is None else case.weights
    qid = np.zeros(m, int) if case.qid is None else case.qid
    if case.name == "SwappedPairsRanker":
        equal = params.get("query_weight") == "equal"
        above, below, mass = statements.all_pairs(case.y, weights, qid, equal_queries=equal)
    else:  # which pairs are drawn is no claim of the certificate: the draw is repeated from its recorded seed
        from hullrank.problem.pairs import random_pairs

        codes, query = np.unique(case.y, return_inverse=True)[1], np.unique(qid, return_inverse=True)[1]
        seed = model.seed_ if model is not None else params["random_state"]
        rows, drawn = random_pairs(codes, query, params["pairs_per_sample"], np.random.RandomState(seed))
        above, below = rows[drawn.hi], rows[drawn.lo]
        mass = np.full(len(above), 1.0 / len(above))
    return statements.pairs(features, above, below, mass, params["C"], loss=params["loss"], **options)


def _judge_model(verdict, model, warned):
    case, certificate = verdict.case, model.certificate_
    st = stated(case, model)
    primal, dual = float(certificate.primal), float(certificate.dual)
    if not (np.isfinite(primal) and np.isfinite(dual)):
        if certificate.status == "converged" or np.isnan(primal) or np.isnan(dual):
            verdict.fail("finite", f"primal {primal:g}, dual {dual:g}, status {certificate.status}")
        if np.isnan(primal) or np.isnan(dual):
            return
    _judge_status(verdict, model, st, warned)
    if case.name == "SumOfMarginsClassifier":
        primal, dual = _unit_ball(primal), _unit_ball(dual)
    w, theta = fitted_point(case, model, st)
    if not (np.isfinite(w).all() and np.isfinite(theta).all()):
        verdict.fail("finite", "weights or thresholds are not finite")
        return
    value = evaluate(st, w, theta)
    if case.name == "SumOfMarginsClassifier":
        value = replace(value, value=min(value.value, 0.0))  # at the best multiple of the point
    _judge_primal(verdict, model, st, w, theta, value, primal)
    best = optimum(st)
    verdict.blunt = not best.width <= BLUNT
    ceiling = min(best.upper, value.value if value.excess <= 0 else np.inf)
    doubt = 1e-9 * abs(ceiling) + best.error + value.error
    if dual > ceiling + doubt:
        share = (dual - ceiling) / max(abs(ceiling), 1e-300)
        verdict.fail("dual", f"claims {dual:.12g}, but {ceiling:.12g} is attained (off by {share:.2g}; P {primal:.12g})")
    elif dual > primal + 1e-12 * max(abs(primal), abs(dual)) + value.error:
        verdict.fail("dual", f"dual {dual:.16g} above primal {primal:.16g}")


def _unit_ball(value):
    """From the sum of margins with 1/2 |w|^2, as certified, to the paper's with |w| <= 1: v with value = -v^2 / 2."""
    return -np.sqrt(-2 * value) if value < 0 else value


def fitted_point(case, model, st):
    """Weights (or kernel coefficients of the statement's samples) and thresholds that the model predicts with."""
    if hasattr(model, "coef_"):
        w = np.asarray(model.coef_, float).ravel()
        w = w / case.params["epsilon"] if case.name == "LinearRelaxationRanker" else w
    else:
        weights = np.ones(len(case.y)) if case.weights is None or "Pairs" in case.name else case.weights
        kept = np.flatnonzero(weights)
        full = np.zeros(len(case.y))
        full[model.support_] = model.dual_coef_[0]
        w = full[kept]
    if case.name in ("FixedMarginClassifier", "NuMarginClassifier"):
        theta = np.asarray(model.thresholds_, float)
        return w, np.append(theta, model.margin_) if st.has_rho else theta
    if case.name == "SumOfMarginsClassifier":
        return w, np.stack([model.intervals_[:-1, 1], model.intervals_[1:, 0]], axis=1).ravel()
    if case.name != "ConvexHullRanker":
        return w, np.zeros(0)
    if case.params["slack"] == "edge":
        known = getattr(model, "edge_thresholds_", None)
        return w, np.asarray(known, float) if known is not None else _best_thresholds(st, w)
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    lower, upper = statements.interval_ends(_edge_codes(case, place))
    return w, np.concatenate([model.intervals_[lower, 0], model.intervals_[upper, 1]])


def _best_thresholds(st, w):
    """The threshold of every edge that charges least at the scores of w: the root of a rising slope, by bisection."""
    s = np.asarray(st.features, np.longdouble) @ np.asarray(w, np.longdouble)
    own, edge = s[st.sample], st.reference - st.m
    reach = np.abs(own).max() + 2
    low, high = np.full(st.n_thresholds, -reach), np.full(st.n_thresholds, reach)
    cost = st.cost[st.slack] if len(st.cost) else np.ones(len(own))
    for _ in range(140):
        middle = (low + high) / 2
        z = st.sign * (own - middle[edge]) - st.offset
        pull = {"squared_hinge": 2 * np.maximum(-z, 0), "hinge": (z < 0) * 1.0}.get(st.charge, 1 / (1 + np.exp(z)))
        if not len(st.cost):
            pull = np.maximum(-z, 0)
        slope = np.zeros(st.n_thresholds, np.longdouble)
        np.add.at(slope, edge, st.sign * cost * pull)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return (low + high) / 2


def _judge_primal(verdict, model, st, w, theta, value, primal):
    case = verdict.case
    X = case.X
    scores = model.score_samples(X)
    weights = np.ones(len(case.y)) if case.weights is None or "Pairs" in case.name else case.weights
    scores = scores[np.flatnonzero(weights)]
    if case.name == "LinearRelaxationRanker":
        scores = scores / case.params["epsilon"]
    size = np.abs(np.asarray(w, np.longdouble))
    F = np.asarray(st.features, np.longdouble)
    mine = F @ np.asarray(w, np.longdouble)
    allowed = np.finfo(float).eps * (F.shape[1] + 3) * (np.abs(F) @ size)
    allowed = allowed + (st.doubt @ size if np.ndim(st.doubt) else 0)
    if np.any(np.abs(scores - mine) > 2 * allowed + 1e-300):
        verdict.fail("scores", f"score_samples differs by {float(np.abs(scores - mine).max()):.3g}")
    if value.excess > 0:
        if np.isfinite(primal):
            verdict.fail("primal", f"claims {primal:.12g}, but constraints are broken by {value.violation:.3g}")
        return
    off, scale = primal - value.value, abs(value.value)
    free = case.params.get("slack") == "edge" and not hasattr(model, "edge_thresholds_")
    if not (-1e-9 * scale - 2 * value.error <= off) or (off > 1e-9 * scale + 2 * value.error and not free):
        share = off / max(scale, 1e-300)
        verdict.fail("primal", f"claims {primal:.12g}, costs {value.value:.12g} (off by {share:.2g})")
    rough = evaluate(st, w, theta, scores=scores).value
    rough = min(rough, 0.0) if case.name == "SumOfMarginsClassifier" else rough
    tol = max(getattr(model, "tol", 1e-9), 1e-12)
    if verdict.status == "converged" and abs(rough - value.value) > 10 * tol * max(scale, abs(primal)):
        verdict.fail("precision", f"converged at tol {tol:g}, but in float64 the objective is {rough:.9g} or {value.value:.9g}")


def _judge_status(verdict, model, st, warned):
    certificate = model.certificate_
    primal, dual, floor = float(certificate.primal), float(certificate.dual), float(certificate.floor)
    tol = getattr(model, "tol", 1e-9)
    largest = max(abs(primal), abs(dual))
    allowed = _floor(verdict.case, model, st)
    if floor > max(largest, allowed):
        verdict.fail("floor", f"floor {floor:.3g} above the objective {largest:.3g} (allowed {allowed:.3g})")
    scale = max(largest, min(floor, allowed))
    gap = (primal - dual) / scale if scale > 0 else 0.0
    converged = certificate.status == "converged"
    if np.isfinite(largest) and converged != (gap <= tol) and abs(gap - tol) > 1e-9 * tol:
        verdict.fail("status", f"{certificate.status} at a relative gap of {gap:.3g} (tol {tol:g})")
    if warned == converged:
        verdict.fail("status", f"{certificate.status} {'with' if warned else 'without'} a ConvergenceWarning")


def _floor(case, model, st):
    """The floor of math.md where the optimum may be 0: 1/2 1e-12 (sum of multipliers * rms|x|)^2, from above."""
    if not st.homogeneous:
        return 0.0
    F = np.asarray(st.features, np.longdouble)
    F = F - F.mean(axis=0)
    square = np.trace(F - F.mean(axis=1)[:, None]) if st.is_kernel else (F**2).sum()
    return 4 * 0.5e-12 * float(square / st.m) * float(st.cost.sum()) ** 2


def with_certificate(model, **changes):
    """The model with a certificate that claims something else, to plant a falsehood."""
    model.certificate_ = replace(model.certificate_, **changes)
    return model
