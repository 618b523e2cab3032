"""The card of a scoring system: points per feature, and what every total meant in the training data."""

from dataclasses import dataclass


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

    @property
    def share(self) -> tuple[float, ...]:
        """Share of positives in every row of the totals."""
        return tuple(positive / count for positive, count in zip(self.positive, self.count, strict=True))

    def __repr__(self) -> str:
        width = max([len(name) for name in self.features] + [len("feature")])
        lines = [f"{'feature':<{width}}  points"]
        lines += [f"{name:<{width}}  {points:+6d}" for name, points in zip(self.features, self.points, strict=True)]
        lines += ["", f"{'total':>16}  {'samples':>9}  {'positive':>9}  {'share':>6}"]
        for low, high, count, positive, share in zip(
            self.low, self.high, self.count, self.positive, self.share, strict=True
        ):
            total = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            lines.append(f"{total:>16}  {count:9g}  {positive:9g}  {100 * share:5.1f}%")
        return "\n".join(lines)
