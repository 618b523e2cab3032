"""The card of a scoring system: points per feature, and what every total meant in the training data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ScoreTable:
    """Points of the features with a weight, and the samples by their total.

    ``points`` are per unit of a feature. Row k of the totals stands for samples with ``low[k]`` <= total <=
    ``high[k]``: their number (or weight) is ``count[k]``, and ``positive[k]`` of them are above the lowest class.
    """

    features: tuple[str, ...]
    points: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[float, ...]
    positive: tuple[float, ...]

    def named(self, names: Sequence[str], weights: ArrayLike) -> "ScoreTable":
        """The card with other names of the features, one for each of the weights that it was made from."""
        return replace(self, features=tuple(str(names[j]) for j in by_points(weights)))

    @property
    def totals(self) -> tuple[str, ...]:
        """The totals of every row in words: a number, or the two ends of a range."""
        ends = zip(self.low, self.high, strict=True)
        return tuple(f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ends)

    @property
    def share(self) -> tuple[float, ...]:
        """Share of positives in every row of the totals."""
        return tuple(positive / count for positive, count in zip(self.positive, self.count, strict=True))

    def __repr__(self) -> str:
        width = max([len(name) for name in self.features] + [len("feature")])
        lines = [f"{'feature':<{width}}  points"]
        lines += [f"{name:<{width}}  {points:+6d}" for name, points in zip(self.features, self.points, strict=True)]
        lines += ["", f"{'total':>16}  {'samples':>9}  {'positive':>9}  {'share':>6}"]
        for total, count, positive, share in zip(self.totals, self.count, self.positive, self.share, strict=True):
            lines.append(f"{total:>16}  {count:9g}  {positive:9g}  {100 * share:5.1f}%")
        return "\n".join(lines)


def by_points(weights: ArrayLike) -> NDArray[np.intp]:
    """The numbers of the features with a weight in the order of a card: most points first."""
    sizes = np.abs(np.asarray(weights))
    order = np.argsort(-sizes, kind="stable")
    return order[sizes[order] > 0]
