"""Fit a random problem and say what is false about it, from public attributes and the data alone.

A failure has a kind:
  crash        an exception other than one that names its reason
  slow         the fit took longer than its limit of processor time
  refused      an error with a reason that the independent statement proves wrong
  scores       score_samples is not what coef_ or dual_coef_ give
  primal       certificate_.primal is not the objective of the model on the data
  precision    converged, though two evaluations of the same model differ by more than ten times tol in float64
  dual         certificate_.dual lies above the objective of a feasible point, or above certificate_.primal
  status       converged although the relative gap exceeds tol, or the other way round, or not warned about
  floor        the relative gap is measured against more than the objective, where that cannot be 0
  finite       a value that is not finite under a status that does not say why
  unconfirmed  converged, but ``certify`` does not hold, or cannot be had within the limit
"""

import signal
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hullrank.exceptions import HullrankError, InfeasibleParameterError, KernelError, NotSeparableError
from hullrank.reports.certifying import certify
from referee.objective import evaluate, score_errors
from referee.optimum import optimum
from referee.restated import Restated

KINDS = (
    "crash", "slow", "refused", "scores", "primal", "precision", "dual", "status", "floor", "finite", "unconfirmed",
)  # fmt: skip
BLUNT = 1e-6  # a referee's interval wider than this share of its value is counted
EXACT = 1e-9  # the share of a value up to which two computations of it agree, rounding apart


@dataclass
class Verdict:
    """What became of a case: graded, declined (an error with a reason), crash or slow; ``failures``: (kind, detail).

    ``blunt`` says that the referee knows the optimum badly; ``unsolved`` how far the model, though honest about it, is
    from a point that the referee found, where that is more than tol and a millionth of the objective.
    """

    case: object
    outcome: str = "graded"
    failures: list = field(default_factory=list)
    blunt: bool = False
    unsolved: str = ""
    status: str = ""

    def fail(self, kind, detail):
        self.failures.append((kind, detail))

    @property
    def kinds(self):
        return {kind for kind, _ in self.failures}


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
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
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
    verdict.status = str(model.certificate_.status)
    with np.errstate(all="ignore"):
        _judge_model(verdict, model, any(issubclass(w.category, ConvergenceWarning) for w in caught))
        if verdict.status == "converged" and not verdict.failures:
            _judge_confirmation(verdict, model, seconds)
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
    verdict.outcome = "declined"
    with np.errstate(all="ignore"):
        untrue = _falsely_refused(Restated(verdict.case), error)
    if untrue:
        verdict.fail("refused", f"{type(error).__name__}: {str(error)[:150]} [{untrue}]")


def _falsely_refused(restated, error):
    """Why the reason given is false, or None."""
    if isinstance(error, KernelError) and "definite" in str(error):
        values = np.linalg.eigvalsh(restated.features()[0].astype(float))
        sound = values[0] > -1e-12 * values[-1]
        return f"smallest eigenvalue {values[0]:.2g}, largest {values[-1]:.2g}" if sound else None
    params = restated.case.params
    if "logistic" in str(error) and "kernel" in params and "approximation" not in params:
        return None  # a logistic charge may be for features and approximated kernels only
    if "are equal" in str(error) and not np.ptp(restated.case.X, axis=0).any():
        return None
    if not isinstance(error, NotSeparableError | InfeasibleParameterError):
        return "not a reason that these problems can have"
    if isinstance(error, NotSeparableError | InfeasibleParameterError) and "restricted to the span" in str(error):
        return None  # which it states, and which the kernel itself need not be
    chosen = {"NuMarginClassifier": "nu", "SumOfMarginsClassifier": "C"}.get(restated.case.name)
    if chosen and chosen not in params:
        return f"{chosen}='auto' never raises"
    best = optimum(restated.statement())
    known = np.isfinite(best.upper) and best.error < 1e-3 * abs(best.upper) and best.width < 1e-3
    if isinstance(error, InfeasibleParameterError):
        known = known and best.upper < -best.zero * 1e-6
    return f"the optimum is {best.upper:.6g}" if known else None


def _judge_model(verdict, model, warned):
    certificate, restated = model.certificate_, Restated(verdict.case, model)
    st = restated.statement()
    primal, dual = float(certificate.primal), float(certificate.dual)
    if not (np.isfinite(primal) and np.isfinite(dual)) and (
        certificate.status == "converged" or np.isnan(primal) or np.isnan(dual)
    ):
        verdict.fail("finite", f"primal {primal:g}, dual {dual:g}, status {certificate.status}")
    w, theta = restated.point(st)
    if not (np.isfinite(w).all() and np.isfinite(theta).all()):
        verdict.fail("finite", "weights or thresholds are not finite")
        return
    best = optimum(st)
    verdict.blunt = not best.width <= BLUNT
    lowered = "max_iter" in verdict.case.params or "approximation" in verdict.case.params
    if not lowered and primal - best.upper > max(BLUNT, getattr(model, "tol", 0)) * max(abs(best.upper), best.zero):
        verdict.unsolved = f"{verdict.status} at {primal:.9g}, where {best.upper:.9g} is attained"
    _judge_status(verdict, model, _zero(st) if st.penalty == "ball" else _allowed_floor(st), warned)
    value = evaluate(st, w, theta)
    _judge_scores(verdict, restated, st, w)
    _judge_primal(verdict, restated, st, (w, theta), value, primal)
    _judge_dual(verdict, value, best, primal, dual - _negligible(st))


def _judge_scores(verdict, restated, st, w):
    scores, (mine, error) = restated.scores(), score_errors(st, w)
    off = np.abs(scores - mine)
    if not np.all(off <= 2 * error + 1e-300):
        verdict.fail("scores", f"score_samples differs by {float(off.max()):.3g}")


def _judge_primal(verdict, restated, st, point, value, primal):
    if value.excess > 0:
        if np.isfinite(primal):
            verdict.fail("primal", f"claims {primal:.12g}, but constraints are broken by {value.violation:.3g}")
        return
    if primal == np.inf and value.violation > 0:
        return  # constraints that rounding may have broken
    off, size = primal - value.value, abs(value.value)
    free = restated.case.params.get("slack") == "edge" and not hasattr(restated.model, "edge_thresholds_")
    doubt = EXACT * size + 2 * value.error + _negligible(st)
    if not off >= -doubt or (off > doubt and not free):
        share = off / max(size, 1e-300)
        verdict.fail("primal", f"claims {primal:.12g}, costs {value.value:.12g} (off by {share:.2g})")
    rough = evaluate(st, *point, scores=restated.scores()).value
    tol = max(getattr(restated.model, "tol", 1e-6), 1e-12)
    if verdict.status == "converged" and abs(rough - value.value) > 10 * tol * max(size, _zero(st)):
        words = f"converged at tol {tol:g}, but the objective is {rough:.9g} in float64"
        verdict.fail("precision", f"{words}, {value.value:.9g} in extended precision")


def _judge_dual(verdict, value, best, primal, dual):
    ceiling = min(best.upper, value.value if value.excess <= 0 else np.inf)
    if dual > ceiling + EXACT * abs(ceiling) + best.error + value.error + 1e-9 * best.zero:
        share = (dual - ceiling) / max(abs(ceiling), 1e-300)
        verdict.fail(
            "dual", f"claims {dual:.12g}, but {ceiling:.12g} is attained (off by {share:.2g}; P {primal:.12g})"
        )
    elif dual > primal + 1e-12 * max(abs(primal), abs(dual)) + value.error:
        verdict.fail("dual", f"dual {dual:.16g} above primal {primal:.16g}")


def _judge_status(verdict, model, allowed, warned):
    certificate = model.certificate_
    primal, dual, floor = float(certificate.primal), float(certificate.dual), float(certificate.floor)
    tol, largest = getattr(model, "tol", 1e-6), max(abs(primal), abs(dual))
    if floor > max(largest, allowed * (1 + EXACT)) and largest > 0:
        verdict.fail("floor", f"floor {floor:.3g} above the objective {largest:.3g} (allowed {allowed:.3g})")
    scale = max(largest, min(floor, allowed))
    gap = (primal - dual) / scale if scale > 0 else 0.0
    converged = certificate.status == "converged"
    if np.isfinite(largest) and converged != (gap <= tol) and abs(gap - tol) > 1e-9 * tol:
        verdict.fail("status", f"{certificate.status} at a relative gap of {gap:.3g} (tol {tol:g})")
    if certificate.status != "approximated" and warned == converged:
        verdict.fail("status", f"{certificate.status} {'with' if warned else 'without'} a ConvergenceWarning")


def _judge_confirmation(verdict, model, seconds):
    X, extra = verdict.case.given
    try:
        with warnings.catch_warnings(), time_limit(seconds):
            warnings.simplefilter("ignore")
            found = certify(model, X, verdict.case.y, tol=max(getattr(model, "tol", 1e-6), 1e-6), **extra)
    except (Exception, OutOfTimeError) as error:
        verdict.fail("unconfirmed", repr(error)[:150])
    else:
        if not found.holds:
            verdict.fail("unconfirmed", found.reason)


def _zero(st):
    """The floor in the units of the statement: for the sum of margins v, where 1/2 |w|^2 gives v^2 / 2."""
    return np.sqrt(2 * _allowed_floor(st)) if st.penalty == "ball" else _allowed_floor(st)


def _negligible(st):
    """What a certificate may leave out: a thousandth of the floor of problems that can collapse to 0."""
    return 1e-3 * _zero(st) if st.homogeneous else 0.0


def _allowed_floor(st):
    """What may count as 0 where the optimum can be 0, from above.

    Nu and sum of margins: 1/2 1e-12 (sum of multipliers * rms|x|)^2 (math.md, section 2); the linear relaxation, which
    is 0 on separable data: a thousandth of the weight of all pairs. The other problems have a margin to pay for.
    """
    if st.penalty == "box":
        return 1e-3 * float(np.sum(st.cost))
    if not st.homogeneous:
        return 0.0
    F = np.asarray(st.features, np.longdouble)
    centred = F - F.mean(axis=0)
    whole = np.abs(np.trace(F)) if st.is_kernel else (F**2).sum()
    square = np.trace(centred - centred.mean(axis=1)[:, None]) if st.is_kernel else (centred**2).sum()
    return 2e-12 * float((square + 1e-15 * whole) / st.m) * float(st.cost.sum()) ** 2
