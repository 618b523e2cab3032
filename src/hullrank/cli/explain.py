"""``hullrank explain``: what a model learned, and how far that depends on the rows it was fitted to."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import hullrank
from hullrank.cli.console import note, out, print_json, say, table, working
from hullrank.cli.data import Columns, Data
from hullrank.cli.model import Model
from hullrank.cli.result import certificate_fields

_MOST = 15
_MOST_GRADES = 50  # beyond, the target is a number rather than a grade
_SLOW = ("ExactRanker", "LinearRelaxationRanker")  # a hundred more searches would take hours


def run_explain(
    model_path: Path, path: Path | None, columns: Columns, decimal: str | None, *, resamples: int, as_json: bool
) -> None:
    """Print what the model learned; with its training table the errors of the weights, with any the contradictions."""
    from hullrank.models.summary import summarise
    from hullrank.reports.facts import card

    model = Model.load(model_path, path)
    if path is None:
        data, training, summary = None, None, summarise(model.pipeline)
    else:
        data = model.load_data(path, model.named(columns, weights_of_fit=True), decimal)
        summary, training = _with_data(model, data, resamples)
    facts: dict[str, Any] = {
        "model": type(model.step).__name__,
        "method": model.about.get("method"),
        "library": model.library or hullrank.__version__,
        "parameters": model.step.get_params(deep=False),
        "certificate": certificate_fields(summary.certificate),
        "resamples": summary.n_resamples,
        "weights": _records(summary.coefficients),
        "card": card(model.step, model.feature_names()),
        "influences": _records(summary.influences),
        "grades": _grades(model, summary.classes),
        "groups": _groups(model),
    }
    if data is not None:
        facts |= {"training rows": training, "violators": _violators(model, data)}
    if as_json:
        print_json(facts)
    else:
        _print(summary, facts)


def _with_data(model: Model, data: Data, resamples: int) -> tuple[Any, bool | None]:
    """The summary, with errors if these are the rows of the fit, and whether they are."""
    from hullrank._pipelines import unwrap
    from hullrank.models.summary import summarise

    inside, y, step = unwrap(model.pipeline), model.target(data), model.step
    training = model.holds_training_rows(inside.transform(data.X), y, data.fit_parameters(step))
    slow = any(kind.__name__ in _SLOW for kind in type(step).__mro__)
    if training is False:
        note("these are not the rows of the fit, so the weights have no errors; the training table gives them")
    elif slow and resamples:
        note("no errors of the weights: every refit is a search of its own")
    wanted = 0 if training is False or slow else resamples
    with working(f"fitting {wanted} resamples of {len(data):,} rows" if wanted else "measuring influences") as advance:
        summary = summarise(
            model.pipeline,
            model.known_columns(data.X),
            y,
            n_resamples=wanted,
            heard=lambda share: advance(share, f"{share:.0%}"),
            sample_weight=data.weights,
            qid=data.qid,
            groups=data.groups,
        )
    return summary, training


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    names = [name.replace(" ", "_") for name in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _grades(model: Model, columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The place of every grade, by the names that the table has for them."""
    records = [{"grade": row.pop("class"), **row} for row in _records(columns)]
    names = model.about.get("grades")
    return records if names is None else [{**row, "grade": names[i]} for i, row in enumerate(records)]


def _groups(model: Model) -> list[dict[str, Any]]:
    """The thresholds of every group, each under the two grades that it divides; None beyond the grades of a group."""
    step, names = model.step, model.classes
    if not hasattr(step, "group_thresholds_") or names is None:
        return []
    between = [f"{low} | {high}" for low, high in pairwise(names)]
    cuts = [[float(cut) if np.isfinite(cut) else None for cut in own] for own in step.group_thresholds_]
    lines = zip(step.groups_.tolist(), cuts, strict=True)
    return [{"group": group, **dict(zip(between, own, strict=True))} for group, own in lines]


def _violators(model: Model, data: Data) -> list[dict[str, Any]]:
    from hullrank.plots.placement import place_by

    y = model.target(data)
    placed = place_by(model.pipeline, data.X, y, groups=data.groups)
    scores, beyond = placed.scores.tolist(), placed.violation.tolist()
    return [
        {"row": int(data.numbers[i]), "grade": y[i], "score": scores[i], "beyond": beyond[i]}
        for i in placed.violators[:_MOST]
    ]


def _print(summary: Any, facts: dict[str, Any]) -> None:
    say(f"{facts['model']} (hullrank {facts['library']})", "bold")
    if summary.certificate is not None:
        say(str(summary.certificate))
    if facts["card"] is not None:
        _show_card(facts["card"])
    elif facts["weights"]:
        errors = f", with 95% intervals of {summary.n_resamples} bootstrap resamples" if summary.n_resamples else ""
        _show(f"Weights{errors}", facts["weights"])
    if facts["influences"]:
        _show("Influence: how far pair accuracy falls when a feature is shuffled", facts["influences"])
    if 0 < len(facts["grades"]) <= _MOST_GRADES:
        mean = ", the mean over the groups" if facts["groups"] else ""
        _show(f"Score line{mean}", facts["grades"], _MOST_GRADES)
    if facts["groups"]:
        _show("Thresholds between two grades, by group", facts["groups"], _MOST_GRADES)
    if facts.get("violators"):
        _show("Rows that contradict the model most", facts["violators"], left=0)
    elif "violators" in facts and not facts["grades"]:
        note("this model has no place for every grade; `hullrank report` shows the pairs it ranks most wrongly")


def _show_card(card: dict[str, Any]) -> None:
    """The card of a scoring system, whole, since a total needs all its points."""
    _show("Points, per unit of a feature", card["points"], len(card["points"]))
    totals = [{**row, "share": f"{row['share']:.1%}"} for row in card["totals"]]
    _show("Training rows by their total of points", totals, len(totals))


def _show(title: str, rows: list[dict[str, Any]], most: int = _MOST, *, left: int = 1) -> None:
    names = [name.replace("_", " ") for name in rows[0]]
    more = f", the largest {most} of {len(rows)}" if len(rows) > most else ""
    out.print(table(f"\n{title}{more}", names, (row.values() for row in rows[:most]), left=left))
