"""Tables and figures of the experiments with margins between ordered classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.experiments.base import Results, ResultTable, emphasised
from hullrank.experiments.figures import COLOURS, MARKERS, new_figure, rank_figure
from hullrank.experiments.published import RATINGS
from hullrank.experiments.statistics import in_words, paired_t_test, wilcoxon_test
from hullrank.plots import MarginDisplay

Curves = dict[tuple[str, str], list[tuple[int, float, float]]]  # (ratings, method) -> (items, mean, sd)
Part = tuple[list[ResultTable], dict[str, Any], list[str]]


def conic_tables(
    results: Results, dataset: str, methods: Sequence[str], fits: dict[str, Any], data: tuple[Any, Any]
) -> Part:
    """Figure 3: thresholds and support vectors of both policies at small and large C."""
    rows, centre = [], {}
    for method in methods:
        if not results.datasets([dataset], [method]):
            continue
        record = {k: results.values(dataset, method, k)[0] for k in ("support", "error", "margins", "centre", "scale")}
        centre[method] = record["centre"] / record["scale"]
        rows.append(
            (
                method, f"{record['support']:.0f}", f"{100 * record['error']:.1f}%",
                f"{record['margins'] / record['scale']:.3f}", f"{centre[method]:.3f}",
            )
        )  # fmt: skip
    columns = ("model", "support vectors", "training error", "sum of margins", "width of the centre class")
    note = "Margins and widths in units of the standard deviation of the scores; a width of 0: the class vanished."
    table = ResultTable("margins-conic", "Conic classes", columns, rows, (note,))
    vanished = [method for method, width in centre.items() if abs(width) < 1e-3]
    return (
        [table],
        {"margins-conic": _pictures(fits, *data)},
        [f"The centre class vanishes (b_1 = a_2) in: {', '.join(vanished) or 'none'}."],
    )


def _pictures(fits: dict[str, Any], X: NDArray[Any], y: NDArray[Any]) -> Any:
    figure = new_figure(8, 7)
    for ax, (name, model) in zip(figure.subplots(2, 2).ravel(), fits.items(), strict=True):
        MarginDisplay.from_estimator(model, X, y, ax=ax)
        ax.set_title(name, loc="left", fontsize="medium", pad=22)  # above the legend
    return figure


def rating_tables(results: Results, datasets: Sequence[str], sizes: Sequence[int], methods: Sequence[str]) -> Part:
    """Figure 5: mean rank error against the number of training items."""
    rows, findings = [], []
    curves: Curves = {}
    for dataset in datasets:
        for size in sizes:
            keys = [f"{method}, {size}" for method in methods]
            if not results.datasets([dataset], keys):
                continue
            v = results.paired(dataset, keys, "error")
            for method, column in zip(methods, v.T, strict=True):
                curves.setdefault((dataset, method), []).append((size, column.mean(), column.std(ddof=1)))
            texts = [f"{c.mean():.3f} ± {c.std(ddof=1):.3f}" for c in v.T]
            tests = [f"{c.mean() / v[:, 0].mean():.2f} ({in_words(paired_t_test(v[:, 0], c))})" for c in v.T[1:]]
            rows.append((dataset, str(size), *texts, *tests, str(len(v))))
    columns = ("ratings of", "training items", *methods, *(f"{other} / {methods[0]}" for other in methods[1:]), "runs")
    printed = ", ".join(f"{method} about {value}" for method, value in RATINGS.items())
    note = f"Published, on EachMovie (ratings on six levels; withdrawn): {printed}; a ratio of 1.8."
    tables = [ResultTable("margins-ratings", "Mean |predicted - true rating|", columns, rows, (note,))] if rows else []
    if rows:
        findings += [
            f"On ratings {methods[0]} has a lower error than {other} in {_lower(curves, methods[0], other)} settings."
            for other in methods[1:]
        ]
    return tables, {"margins-ratings": _curves(curves)} if curves else {}, findings


def _lower(curves: Curves, method: str, other: str) -> str:
    pairs = [
        (a[1], b[1])
        for dataset in dict.fromkeys(key[0] for key in curves)
        for a, b in zip(curves[dataset, method], curves[dataset, other], strict=True)
    ]
    return f"{sum(a < b for a, b in pairs)} of {len(pairs)}"


def _curves(curves: Curves) -> Any:
    figure = new_figure(6.5, 4)
    ax = figure.add_subplot()
    for ((dataset, method), points), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
        size, mean, sd = np.array(points).T
        ax.errorbar(size, mean, yerr=sd, marker=marker, capsize=3, color=colour, label=f"{method}, {dataset}")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("training items")
    ax.set_ylabel("mean |predicted - true rating|")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure


def ordinal_tables(results: Results, datasets: Sequence[str], methods: Sequence[str]) -> Part:
    """Error rate and mean rank error of every method."""
    names = results.datasets(datasets, methods)
    tables = []
    for key, title in (("error", "Share of wrong labels"), ("rank_error", "Mean |predicted - true label|")):
        rows = []
        for name in names:
            v = results.paired(name, methods, key)
            texts = [f"{c.mean():.3f} ± {c.std(ddof=1):.3f}" for c in v.T]
            marked = emphasised(texts, -v.mean(axis=0))
            tests = [f"{(v[:, 0] - c).mean():+.3f} ({in_words(paired_t_test(v[:, 0], c))})" for c in v.T[1:]]
            rows.append((name, *marked, *tests))
        columns = ("data set", *methods, *(f"{methods[0]} - {other}" for other in methods[1:]))
        tables.append(ResultTable(f"margins-ordinal-{key}", f"Ordinal sets: {title}", columns, rows))
    if len(names) < 2:
        return tables, {}, []
    figures, findings = {}, []
    for key, title in (("error", "error"), ("rank_error", "rank error")):
        means = np.array([results.paired(name, methods, key).mean(axis=0) for name in names])
        figures[f"margins-{key}-ranks"] = rank_figure(-means, methods)
        for k in range(1, len(methods)):
            wins, p = int((means[:, 0] < means[:, k]).sum()), wilcoxon_test(means[:, 0], means[:, k])
            findings.append(
                f"Mean {title} of the {methods[0]} is below that of {methods[k]} on {wins} of {len(names)} sets "
                f"(Wilcoxon over sets {in_words(p)})."
            )
    return tables, figures, findings
