"""What a fit tells: certificate, pair accuracy on the training rows, and the same in folds of rows it has not seen."""

from pathlib import Path
from typing import Any

import numpy as np

import hullrank
from hullrank.cli.chances import Chances, in_words
from hullrank.cli.columns import columns_table
from hullrank.cli.console import err, note, out, print_json, say, stopped, warn, working
from hullrank.cli.folds import Remarks, Task, runner
from hullrank.cli.methods import is_slow
from hullrank.cli.model import pair_accuracies
from hullrank.cli.output import STDOUT
from hullrank.cli.parts import Placed
from hullrank.cli.tuning import advice
from hullrank.cli.wording import in_command_terms
from hullrank.exceptions import HullrankError
from hullrank.io.forms import few

_FOLDS = 5
_MOST_ROWS = 20_000  # rows of which folds are made; five fits to more of them would take longer than is quick
_MOST_ROWS_OF_KERNELS = 5_000  # the same where the work grows with the square of the rows, or folds are made in folds


def tell_result(
    model: Any, trained: Placed, task: Task, seconds: float, model_file: Path, cv: bool, as_json: bool, columns: Any
) -> dict[str, Any] | None:
    """Say how good the model is, where it was saved, and (unless ``columns`` is None) what became of the columns.

    The figure on rows left out, which is returned for the notes of the model file, is from folds of the rows of
    ``task``: the training rows or a sample of them.
    """
    rows = len(trained)
    training = pair_accuracies(model, trained.y, trained.scores, trained.qid, trained.weights, trained.groups)
    _warn_of_thresholds(model, trained.scores)
    held_out = _cross_validated(task) if cv and not stopped() else None
    certificate = getattr(model, "certificate_", None)
    if as_json:
        figures = {name.replace(" ", "_"): value for name, value in training.items()}
        facts = {"model": str(model_file), "method": task.method, "rows": rows, "training": figures}
        more = {"certificate": certificate_fields(certificate), "seconds": seconds, "library": hullrank.__version__}
        print_json({**facts, "cross_validated": held_out, **more, **({} if columns is None else {"columns": columns})})
        return _noted(held_out)
    to_stderr = str(model_file) == STDOUT
    if columns is not None:
        (err if to_stderr else out).print(columns_table(columns), "")
    if certificate is not None:
        say(f"{certificate}\n", to_stderr=to_stderr)
    figure, share = list(training.items())[-1]
    say(f"{figure.capitalize()} on the {rows:,} training rows: {share:.4f}  ({seconds:.2f} s)", to_stderr=to_stderr)
    if held_out is not None:
        say(_words(held_out, rows), to_stderr=to_stderr)
        if held_out.get("probabilities"):
            say(in_words(held_out["probabilities"]), to_stderr=to_stderr)
        if (hint := advice(task, share, held_out["mean"])) is not None:
            note(hint)
    elif not cv:
        say("On rows it has not seen it will be lower; `hullrank evaluate` measures that", to_stderr=to_stderr)
    if stopped():
        whole = str(getattr(certificate, "status", "")) != "interrupted"
        skipped = "is complete; only the check on rows left out was skipped"
        note(f"stopped by Ctrl-C; the model {skipped if whole else 'as far as it got is saved: see its gap'}")
    if not to_stderr:
        say(f"Saved to {model_file}")
    return _noted(held_out)


def _noted(held_out: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a model file keeps of the figure on rows left out."""
    kept = ("figure", "rows", "mean", "low", "high")
    return None if held_out is None else {name: held_out[name] for name in kept}


def _cross_validated(task: Task) -> dict[str, Any] | None:
    """The figure in folds of rows that were left out; None, with a note, where there is none."""
    if is_slow(task.method):
        note(
            f"no held-out figure, since five more searches take long; `hullrank compare --methods {task.method}` has it"
        )
        return None
    quick = task.parameters.get("kernel", "linear") == "linear" and not task.probabilities
    most = _MOST_ROWS if quick else _MOST_ROWS_OF_KERNELS
    small, remarks = task.take(_sample(task.data.qid, len(task.data), most)), Remarks()
    chances = Chances() if task.probabilities and _every_grade_in_every_fold(small.y) else None
    try:
        row = _in_folds(small, remarks, chances)
    except KeyboardInterrupt:
        return None
    except HullrankError as error:
        note(f"no held-out figure: {in_command_terms(str(error))}")
        return None
    if row.collapsed:
        note(f"no held-out figure: the ranking collapsed in {row.collapsed} of {_FOLDS} folds")
        return None
    remarks.tell()
    figures = {"mean": row.mean, "low": row.low, "high": row.high, "folds": row.folds}
    foretold = {} if chances is None else {"probabilities": chances.figures()}
    return {"figure": task.figure, "rows": len(small.data), **figures, **foretold}


def _every_grade_in_every_fold(y: Any) -> bool:
    """Whether the grades have rows enough for folds in folds; if not, a note says so."""
    grades, sizes = np.unique(y, return_counts=True)
    if sizes.min() >= 2 * _FOLDS:
        return True
    note(
        f"no held-out figure for the probabilities: only {sizes.min()} rows have the grade "
        f"{grades.tolist()[sizes.argmin()]!r}, and {2 * _FOLDS} are needed"
    )
    return False


def _in_folds(task: Task, remarks: Remarks, chances: Chances | None) -> Any:
    from hullrank.reports.comparison import compare, folds

    with working(f"cross-validating in {_FOLDS} folds of {len(task.data):,} rows", keep=True) as advance:

        def hear(share: float, _: str, fold: int) -> None:
            remarks.fold = fold
            advance(share, f"fold {fold} of {_FOLDS}")

        return compare({task.method: runner(task, remarks, chances)}, folds(task.y, task.data.qid, _FOLDS), hear)[0]


def _sample(qid: Any | None, rows: int, most: int) -> Any:
    """The rows that folds are made of: all, or a random part of them in whole queries, with the seed 0."""
    if rows <= most:
        return np.arange(rows)
    rng = np.random.default_rng(0)
    if qid is None:
        return np.sort(rng.choice(rows, most, replace=False))
    queries, sizes = np.unique(qid, return_counts=True)
    shuffled = rng.permutation(len(queries))
    kept = queries[shuffled[: max(_FOLDS, int(np.searchsorted(np.cumsum(sizes[shuffled]), most)))]]
    return np.flatnonzero(np.isin(qid, kept))


def _words(held_out: dict[str, Any], rows: int) -> str:
    part = f" of {held_out['rows']:,} of them" if held_out["rows"] < rows else ""
    ends = f"{held_out['low']:.4f} to {held_out['high']:.4f}"
    figure = f"{held_out['figure'].capitalize()} on rows left out, {_FOLDS} quick folds{part}"
    return f"{figure}: {held_out['mean']:.4f}  (95% interval {ends})"


def _warn_of_thresholds(model: Any, scores: Any) -> None:
    """Two thresholds that are equal, up to a millionth of the range of the scores, leave no room for a grade."""
    thresholds, classes = getattr(model, "thresholds_", None), getattr(model, "classes_", None)
    if thresholds is None or classes is None or len(thresholds) != len(classes) - 1:
        return
    never = [str(classes[k + 1]) for k in np.flatnonzero(np.diff(thresholds) <= 1e-6 * np.ptp(scores))]
    if never:
        warn(
            f"no row is ever given the grade {few(never)}: the thresholds below and above are equal; join it with a "
            "neighbour"
        )


def certificate_fields(certificate: Any) -> dict[str, Any] | None:
    """What a certificate states, for JSON."""
    from hullrank.reports.facts import CERTIFICATE_FIELDS

    if certificate is None:
        return None
    return {name: getattr(certificate, name) for name in (*CERTIFICATE_FIELDS, "cause") if hasattr(certificate, name)}
