"""The report: one HTML file that needs no network, no server and no trust in the names it shows.

Facts travel as JSON inside the page, and its script writes them only as text; the page forbids itself every script
but its own (by digest) and every connection; the only image it takes is the drawing it saves as a picture.
"""

import base64
import hashlib
import html
import json
import os
from importlib.resources import files
from typing import Any

import hullrank
from hullrank.io import replacing
from hullrank.reports.facts import gather
from hullrank.reports.words import in_words

# The parts of the script, in the order in which they stand in the page; the last one starts it.
SCRIPTS = (
    "marks.js", "picture.js", "score_line.js", "thresholds.js", "order_graph.js", "trend.js", "tables.js", "report.js",
    "start.js",
)  # fmt: skip

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src '{digest}'; img-src data:">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<a class="skip" href="#line">Skip to the score line</a>
<header>
<h1>{title}</h1>
{words}
</header>
<main></main>
<footer>hullrank {version}</footer>
<script type="application/json" id="facts">{facts}</script>
<script>{script}</script>
</body>
</html>
"""


def render(facts: dict[str, Any], title: str) -> str:
    """The page of the facts of `gather`."""
    style, script = resource("report.css"), "\n".join(map(resource, SCRIPTS))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    words = "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in in_words(facts))
    return _PAGE.format(
        digest=f"sha256-{digest}",
        title=html.escape(title),
        style=style,
        words=words,
        version=html.escape(hullrank.__version__),
        facts=embedded(facts),
        script=script,
    )


def resource(name: str) -> str:
    """A part of the page: a script or the style."""
    return (files("hullrank.reports") / "page" / name).read_text(encoding="utf-8")


def embedded(facts: Any) -> str:
    """JSON that cannot end the element it stands in: no angle bracket or ampersand appears as itself."""
    text = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write_report(
    path: str | os.PathLike[str], estimator: Any, X: Any, y: Any, *, title: str = "Ranking report", **options: Any
) -> None:
    """Write the report of a fitted estimator on samples to an HTML file.

    Parameters
    ----------
    path : path of the file
    estimator : fitted estimator with ``score_samples``, or a pipeline that ends in one
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    title : str, default="Ranking report"
    **options : ``names`` (of the weights), ``labels`` (of the classes), ``sample_weight``, ``qid``, ``groups``,
        ``numbers`` (of the rows), ``table`` (a data frame of the same rows, whose cells are shown at each),
        ``held_out`` (what the fit found on rows left out: a dict with figure, rows, mean, low and high)
    """
    page = render(gather(estimator, X, y, **options), title)
    with replacing(path) as stream:
        stream.write(page.encode("utf-8"))
