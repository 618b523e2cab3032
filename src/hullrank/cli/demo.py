"""``hullrank demo``: four models on bundled data, what they achieve, and a picture of the score line."""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hullrank.cli.console import err, note, out, print_json, say, table, working
from hullrank.cli.doctor import compiled_functions
from hullrank.cli.output import PICTURE, STDOUT, check_place, placed

GRADES = ("very mild", "mild", "moderate", "severe", "very severe")
MODELS = ("ConvexHullRanker", "FixedMarginClassifier", "NuMarginClassifier", "SumOfMarginsClassifier")


def run_demo(picture: Path, *, as_json: bool = False) -> None:
    """Fit the four class-based models to five grades of scikit-learn's diabetes data, and draw the first of them."""
    check_place(picture, is_a=PICTURE, as_json=as_json)
    X, y = _diabetes()
    train, test = np.arange(len(y)) % 3 != 0, np.arange(len(y)) % 3 == 0
    if not compiled_functions():
        note("The first run on a machine compiles the solvers, which takes some seconds; later runs load them.")
    rows, fitted = [], []
    for name in MODELS:
        with working(f"fitting {name}"):
            model, seconds = _timed_fit(name, X[train], y[train])
        fitted.append(model)
        rows.append(_row(name, model, X[test], y[test], seconds))
    with working("drawing the score line"):
        _draw(fitted[0], X[test], y[test], picture)
    if as_json:
        print_json({"models": rows, "picture": picture})
        return
    title = f"Diabetes progression in five grades ({train.sum()} patients to learn, {test.sum()} held out)"
    to_stderr = str(picture) == STDOUT
    (err if to_stderr else out).print(
        table(title, ("model", "pair accuracy", "mean rank error", "relative gap", "seconds"), map(_cells, rows))
    )
    say(
        "Pair accuracy is the share of pairs of different grades that are ranked right: 0.5 is chance, 1 is perfect.",
        to_stderr=to_stderr,
    )
    say(f"\n{fitted[0].certificate_}\n", to_stderr=to_stderr)
    say(f"{fitted[0].certificate_.in_words()}\n", to_stderr=to_stderr)
    if not to_stderr:
        say(f"The score line of {MODELS[0]} is drawn in {picture}")


def _diabetes() -> tuple[Any, Any]:
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import StandardScaler

    from hullrank.datasets import discretize

    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(GRADES)[discretize(y, 5)]


def _timed_fit(name: str, X: Any, y: Any) -> tuple[Any, float]:
    """A fitted model, and the seconds of a fit once everything is compiled."""
    import hullrank

    model = getattr(hullrank, name)(classes=list(GRADES)).fit(X, y)
    start = perf_counter()
    model.fit(X, y)
    return model, perf_counter() - start


def _row(name: str, model: Any, X: Any, y: Any, seconds: float) -> dict[str, Any]:
    from hullrank.metrics import mean_absolute_rank_error, wmw_score
    from hullrank.order import OrderGraph

    predict = getattr(model, "predict_class", model.predict)
    return {
        "model": name,
        "pair_accuracy": wmw_score(y, model.score_samples(X), order=OrderGraph.full(GRADES)),
        "mean_rank_error": mean_absolute_rank_error(y, predict(X), classes=list(GRADES)),
        "relative_gap": model.certificate_.relative_gap,
        "seconds": seconds,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["model"],
        f"{row['pair_accuracy']:.3f}",
        f"{row['mean_rank_error']:.3f}",
        f"{row['relative_gap']:.1e}",
        f"{row['seconds']:.4f}",
    )


def _draw(model: Any, X: Any, y: Any, picture: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from hullrank.io import replacing
    from hullrank.plots import ScoreLineDisplay

    display = ScoreLineDisplay.from_estimator(model, X, y)
    what = f"{len(y)} patients that the model has not seen, in five grades of diabetes progression"
    display.ax_.set_title(f"{what}\n{display.sentence()}", loc="left", fontsize="medium")
    display.figure_.supxlabel(model.certificate_.in_words(), fontsize="small", x=0.02, ha="left")
    with placed(picture) as place, replacing(place) as stream:
        display.figure_.savefig(stream, format="png", dpi=150)
