"""``--order auto``: the order of the grades as the rows suggest it, to be confirmed by whoever knows."""

import shlex
import warnings
from typing import Any

import numpy as np

from hullrank.cli.console import note, out, print_json, say, table, working
from hullrank.cli.data import Data, Reading, recognised, target_values
from hullrank.cli.methods import build, estimator_class, takes
from hullrank.cli.signs import translate_signs
from hullrank.cli.wording import listed
from hullrank.exceptions import HullrankError, UndecidedOrderWarning
from hullrank.order import OrderGraph
from hullrank.order.builders import quoted

AUTO = "auto"
_SHOWN = 5
_MOST_ROWS = 20_000  # rows that are looked at
_MOST_GRADES = 20


def suggest_order(data: Data, reading: Reading, method: str, settings: dict[str, Any], *, as_json: bool) -> None:
    """Print the order that separates the grades best, how sure that is, and the option that confirms it."""
    y = target_values(data.y)
    grades = len(np.unique(y))
    if grades > _MOST_GRADES:
        raise HullrankError(
            f"--order {AUTO} finds the order of up to {_MOST_GRADES} grades, and the target has {grades:,} different "
            "values"
        )
    search = _searched(data, y, reading, method, settings)
    confirm = f"--order {shlex.quote(order_text(search))}"
    columns = (search.cv_results_[name][:_SHOWN] for name in ("name", "mean_test_score", "wins", "plausible"))
    best = [
        {"order": name, "score": score, "wins": wins, "plausible": bool(kept)}
        for name, score, wins, kept in zip(*columns, strict=True)
    ]
    if as_json:
        facts = {"order": order_text(search), "best": best[0]["order"], "score": search.best_score_}
        more = {"margin": search.margin_, "wins": search.confidence_, "undecided": search.undecided_, "orders": best}
        print_json({**facts, **more, "confirm": confirm})
        return
    rows = [(b["order"], f"{b['score']:.4f}", f"{b['wins']:.0%}", "yes" if b["plausible"] else "") for b in best]
    title = "Orders by pair accuracy on rows left out; each may be read either way"
    out.print(table(title, ("order", "accuracy", "wins resamples", "plausible"), rows), "")
    say(_words(search))
    say(
        f"No model was fitted. Which end is the lowest only you can say; confirm the order and fit again by one of\n"
        f"  {confirm}\n  --order {shlex.quote(order_text(search, '>'))}"
    )


def _searched(data: Data, y: Any, reading: Reading, method: str, settings: dict[str, Any]) -> Any:
    """The fitted search, on a random part of the rows if they are many."""
    from hullrank import ConvexHullRanker, OrderGraphSearchCV

    build(method, settings, sparse=data.sparse)  # refuses settings that the method does not have
    own = {name: value for name, value in settings.items() if _is_shared(method, name)}
    if len(own) < len(settings):
        others = listed([name for name in settings if name not in own])
        note(f"the order is looked for by --method hull, with what it shares with {method}; it leaves out {others}")
    rows = np.arange(len(data))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), _MOST_ROWS, replace=False))
    part = data.take(rows)
    prepare = build("hull", {}, sparse=data.sparse, forms=recognised(data, reading))[0]
    with working(f"looking for the order of the grades in {len(rows):,} rows"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UndecidedOrderWarning)
        Z = prepare.fit_transform(part.X)
        ranker = ConvexHullRanker(**own)
        translate_signs(ranker, prepare)
        return OrderGraphSearchCV(ranker).fit(Z, y[rows], sample_weight=part.weights, groups=part.qid)


def _is_shared(method: str, name: str) -> bool:
    """Whether a setting of the method means the same to the ranker that rates orders; C is a price of its own kind."""
    from hullrank.models._price import SlackPriceMixin

    return takes("hull", name) and (name != "C" or issubclass(estimator_class(method), SlackPriceMixin))


def order_text(search: Any, sign: str = "<") -> str:
    """The order (``>``: its reverse) as ``--order`` takes it: what is decided, or the best where nothing is."""
    order: OrderGraph = search.order_ if search.order_.n_edges else search.best_params_["order"]
    if order.is_chain:
        return f" {sign} ".join(map(quoted, order.labels))
    lonely = [label for label in order.labels if not any(label in edge for edge in order.edges)]
    edges = [f"{quoted(lo)} {sign} {quoted(hi)}" for lo, hi in order.edges]
    return "; ".join([*edges, *map(quoted, lonely)])


def _words(search: Any) -> str:
    """How sure the order is."""
    sure = f"It is {search.margin_:.4f} better than the next, and wins {search.confidence_:.0%} of the resamples."
    if not search.undecided_:
        return f"The rows decide the whole order. {sure}"
    if search.order_.n_edges == 0:
        return f"The rows decide nothing about the order; the best may be chance. {sure}"
    pairs = ", ".join(f"{lo} and {hi}" for lo, hi in search.undecided_[:6])
    more = f" and {len(search.undecided_) - 6} more pairs" if len(search.undecided_) > 6 else ""
    return f"The rows do not decide the order of {pairs}{more}, which stay incomparable. {sure}"
