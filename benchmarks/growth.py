"""How time grows with rows, columns, classes, edges of the order and threads: log-log, with a fitted exponent."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import cpu_seconds, curved_data, grades, in_turn, linear_data
from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker

AXES = ("rows", "columns", "classes", "edges", "threads")


@dataclass(frozen=True)
class Series:
    """Seconds of an estimator at growing sizes along one axis: of the CPU, or along threads of the wall clock."""

    axis: str
    name: str
    sizes: list[int]
    seconds: list[float]

    @property
    def exponent(self) -> float:
        """The slope of log(seconds) over log(size), by least squares on the larger half of the sizes."""
        half = max(0, min(len(self.sizes) // 2, len(self.sizes) - 2))
        return float(np.polyfit(np.log(self.sizes[half:]), np.log(self.seconds[half:]), 1)[0])


LINEAR = {
    "FixedMarginClassifier, hinge": lambda: FixedMarginClassifier(loss="hinge"),
    "FixedMarginClassifier, logistic": lambda: FixedMarginClassifier(loss="logistic"),
    "ConvexHullRanker, squared": lambda: ConvexHullRanker(loss="squared_hinge"),
    "SwappedPairsRanker, hinge": lambda: SwappedPairsRanker(loss="hinge"),
}


def measured(axis: str, name: str, make: Any, data: dict[int, Any], budget: float) -> Series:
    """Times of ``make(size)`` fitted to the data of every size."""
    seconds = [cpu_seconds(lambda X=X, y=y, size=size: make(size).fit(X, y), budget) for size, (X, y) in data.items()]
    return Series(axis, name, list(data), seconds)


def order_data(edges, m=20_000):
    """Classes of a layered order with about so many edges, every class of a layer below every class of the next."""
    width = max(2, round(edges**0.5 / 1.75))
    X, y = linear_data(m, 10, 4 * width)
    return X, y, [(a + k * width, b + (k + 1) * width) for k in range(3) for a in range(width) for b in range(width)]


def series(quick: bool) -> Iterator[Series]:
    """All of them."""
    budget = 0.2 if quick else 1.0
    rows = [1_000, 4_000, 16_000] if quick else [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000]
    columns = [4, 16, 64] if quick else [4, 16, 64, 256, 1024]
    classes = [2, 8, 32] if quick else [2, 8, 32, 128]  # more would be refused with a row for every threshold
    for name, make in LINEAR.items():
        yield measured("rows", name, lambda _, make=make: make(), {m: linear_data(m) for m in rows}, budget)
        wide = {n: linear_data(4_000 if quick else 16_000, n) for n in columns}
        yield measured("columns", name, lambda _, make=make: make(), wide, budget)
        X, _ = linear_data(16_000, 10)
        score = X @ np.linspace(-1, 1, 10) + np.random.default_rng(1).normal(size=len(X))
        yield measured(
            "classes", name, lambda _, make=make: make(), {K: (X, grades(score, K)) for K in classes}, budget
        )
    kernel_rows = [500, 1000, 2000] if quick else [500, 1000, 2000, 4000, 8000]
    yield measured(
        "rows", "FixedMarginClassifier, RBF", lambda _: FixedMarginClassifier(loss="hinge", kernel="rbf", tol=1e-4),
        {m: curved_data(m) for m in kernel_rows}, budget,
    )  # fmt: skip
    graphs = {len(made[2]): made for made in map(order_data, (12, 48, 192) if quick else (12, 48, 192, 768))}
    for slack in ("sample", "edge"):
        yield measured(
            "edges", f"ConvexHullRanker, slack={slack!r}",
            lambda size, slack=slack: ConvexHullRanker(graphs[size][2], loss="squared_hinge", slack=slack),
            {size: made[:2] for size, made in graphs.items()}, budget,
        )  # fmt: skip


def walls(quick: bool) -> Iterator[tuple[str, float]]:
    """Wall seconds with the threads that this process has."""
    m = 16_000 if quick else 256_000
    kernel = FixedMarginClassifier(loss="hinge", kernel="rbf", tol=1e-4)
    cases = {name: (make(), linear_data(m)) for name, make in LINEAR.items()}
    cases |= {"FixedMarginClassifier, RBF": (kernel, curved_data(1000 if quick else 4000))}
    for name, (model, (X, y)) in cases.items():
        yield name, in_turn({"": lambda model=model, X=X, y=y: model.fit(X, y)}, 0.2 if quick else 2.0)[""].wall


def draw(found: list[Series], axis: str, path) -> None:
    """One picture of all series along an axis."""
    from matplotlib.figure import Figure

    from hullrank.plots._style import class_colours

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    clock = "wall" if axis == "threads" else "CPU"
    panel = figure.add_subplot(xscale="log", yscale="log", xlabel=axis, ylabel=f"{clock} seconds")
    for each, colour, marker in zip(found, class_colours(len(found)), "os^Dv", strict=False):
        label = f"{each.name} ({axis}^{each.exponent:.2f})"
        panel.plot(each.sizes, each.seconds, marker=marker, ms=4, color=colour, label=label)
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
