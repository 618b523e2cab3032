"""What was learned, in a few sentences."""

from typing import Any


def in_words(facts: dict[str, Any]) -> list[str]:
    """Sentences about the facts of `gather`, most important first."""
    sentences = [_placing(facts), _whose(facts), _edges(facts), _strongest(facts), _proof(facts)]
    return [sentence for sentence in sentences if sentence]


def _placing(facts: dict[str, Any]) -> str:
    grades = facts["grades"]
    if not grades:
        what = f"{facts['n_grades']:,} values"
    elif facts["total"]:
        what = f"{len(grades)} grades, from “{grades[0]}” up to “{grades[-1]}”,"
    else:
        what = f"{len(grades)} partly ordered grades"
    pairs = f"pairs within {facts['within']}" if facts["within"] else "all pairs"
    share = "" if facts["pair_accuracy"] is None else f" It ranks {facts['pair_accuracy']:.1%} of {pairs} right."
    return f"This {facts['model']} places {what} on one score line; {facts['rows']:,} rows are shown here.{share}"


def _whose(facts: dict[str, Any]) -> str:
    if facts["training"] is None:
        return _left_out(facts)
    if facts["training"]:
        return f"These are the rows that it was fitted to, so the figures flatter it. {_left_out(facts)}".strip()
    return "These are not the rows (with weights, queries and groups) that it was fitted to."


def _left_out(facts: dict[str, Any]) -> str:
    """What to expect of new rows, as far as the fit has measured it."""
    held = facts["held_out"]
    if held is None:
        return ""
    pairs = held["figure"].replace("pair accuracy", "pairs")
    ends = f"95% interval {held['low']:.1%} to {held['high']:.1%}"
    right = f"{held['mean']:.1%} of {pairs} were right ({ends})"
    return f"On rows left out in turn by the fit, {right}: expect that of new rows."


def _edges(facts: dict[str, Any]) -> str:
    edges = [edge for edge in facts["edges"] if edge["accuracy"] is not None]
    if len(edges) < 2:
        return ""
    worst, best = (pick(edges, key=lambda edge: edge["accuracy"]) for pick in (min, max))
    name = facts["grades"]
    return (
        f"It tells “{name[best['lo']]}” from “{name[best['hi']]}” best ({best['accuracy']:.1%} of pairs), "
        f"and “{name[worst['lo']]}” from “{name[worst['hi']]}” worst ({worst['accuracy']:.1%})."
    )


def _strongest(facts: dict[str, Any]) -> str:
    shown = [w for w in facts["weights"]["shown"][:3] if w["weight"]]
    if not shown:
        names = [f"“{each['name']}”" for each in facts["influences"][:3] if each["fall"] > 0]
        return f"The most influential features: {', '.join(names)}." if names else ""
    parts = [f"“{w['name']}” {'raises' if w['weight'] > 0 else 'lowers'} the score" for w in shown]
    return "The strongest features: " + ", ".join(parts) + "."


def _proof(facts: dict[str, Any]) -> str:
    certificate = facts["certificate"]
    gap = certificate.get("relative_gap")
    if gap is None:
        return ""
    stands = certificate.get("n_order_constraints")
    pairs = f", which stands for {stands:,} order constraints" if stands else ""
    return f"Its objective is proven to lie within {max(gap, 0):.1e} (relative) of the best possible one{pairs}."
