"""The score line of a fitted estimator as inline SVG, for notebooks: classes, intervals, medians and thresholds."""

from html import escape
from typing import Any

import numpy as np

from hullrank.plots._style import FAINT
from hullrank.plots.placement import bounds_of

_WIDTH, _ROW, _LEFT = 560, 24, 120
_LEGEND = 18  # height of the line that says what the marks mean
_MOST = 30
# Five places of Matplotlib's viridis, which is not loaded here; all can be seen on white and on black.
_STOPS = np.array([[71, 45, 123], [57, 86, 140], [31, 150, 139], [74, 193, 109], [178, 221, 45]])


def score_line_svg(model: Any) -> str:
    """An SVG element, or nothing for a model without places for (at most 30) classes."""
    bounds = bounds_of(model)
    classes, thresholds, intervals = (bounds.get(name) for name in ("classes", "thresholds", "intervals"))
    marks = [np.ravel(part) for part in (intervals, thresholds) if part is not None]
    finite = np.concatenate(marks)[np.isfinite(np.concatenate(marks))] if marks else np.empty(0)
    if classes is None or not len(finite) or len(classes) > _MOST:
        return ""
    room = float(np.ptp(finite)) / max(len(classes) - 1, 1) or 1.0
    low, high = float(finite.min()) - room, float(finite.max()) + room

    def x(score: float) -> float:
        return _LEFT + (min(max(score, low), high) - low) / (high - low) * (_WIDTH - _LEFT - 10)

    medians = getattr(model, "_anchors", ())
    height = _ROW * len(classes) + 26 + _LEGEND
    parts = [_row(label, c, len(classes), intervals, x) for c, label in enumerate(classes.tolist())]
    for c, (_, _, median) in enumerate(medians):
        middle = _ROW * (len(classes) - 1 - c) + 4 + (_ROW - 8) / 2
        parts.append(
            f'<circle cx="{x(median):.1f}" cy="{middle:.1f}" r="3.5" fill="currentColor">'
            "<title>median training score</title></circle>"
        )
    floor = height - _LEGEND - 22
    for threshold in () if thresholds is None else thresholds.tolist():
        parts.append(
            f'<line x1="{x(threshold):.1f}" x2="{x(threshold):.1f}" y1="2" y2="{floor}" stroke="{FAINT}" '
            f'stroke-dasharray="4 3"/><text x="{x(threshold):.1f}" y="{floor + 14}" text-anchor="middle" '
            f'fill="{FAINT}">{threshold:.3g}</text>'
        )
    told = [
        "bar: interval of a class" if intervals is not None else "",
        "dashed: threshold" if thresholds is not None else "",
        "dot: median training score" if len(medians) else "",
    ]
    legend = " · ".join(filter(None, told))
    parts.append(f'<text x="{_LEFT}" y="{height - 6}" font-size="11" fill="{FAINT}">{legend}</text>')
    names = ", ".join(map(str, classes.tolist()))
    return (
        f'<svg role="img" aria-label="Score line of {escape(names)}" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12">{"".join(parts)}</svg>'
    )


def _row(label: Any, code: int, n: int, intervals: Any, x: Any) -> str:
    """A class's name and interval; the highest class stands on top."""
    top = _ROW * (n - 1 - code) + 4
    red, green, blue = _colour(code, n)
    text = str(label)
    text = text if len(text) <= 16 else text[:15] + "…"
    name = f'<text x="{_LEFT - 8}" y="{top + 13}" text-anchor="end" fill="currentColor">{escape(text)}</text>'
    if intervals is None:
        return name
    start, stop = x(intervals[code, 0]), x(intervals[code, 1])
    return (
        f'{name}<rect x="{min(start, stop) - 1:.1f}" y="{top}" width="{abs(stop - start) + 2:.1f}" '
        f'height="{_ROW - 8}" rx="2" fill="rgb({red},{green},{blue})" fill-opacity="0.75"/>'
    )


def _colour(code: int, n: int) -> list[int]:
    place = code / (n - 1) * (len(_STOPS) - 1) if n > 1 else 1.0
    return [round(float(np.interp(place, range(len(_STOPS)), channel))) for channel in _STOPS.T]
