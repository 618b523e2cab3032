"""What the shell offers after the tab key: methods, the columns of the table, parameters."""

from pathlib import Path
from typing import Any

from hullrank.cli.methods import METHODS, PURPOSES, known_methods


def methods(incomplete: str) -> list[tuple[str, str]]:
    """Methods with what they are for."""
    return [(name, PURPOSES.get(name, "")) for name in known_methods() if name.startswith(incomplete)]


def lists_of_methods(incomplete: str) -> list[str]:
    """The same for a list with commas: what is complete stays in front."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in ("all", *known_methods()) if name.startswith(last)]


def columns(context: Any, incomplete: str) -> list[str]:
    """Names of the columns of the table that stands on the line already."""
    return [name for name in _header(context.params.get("data")) if name.startswith(incomplete)]


def settings(context: Any, incomplete: str) -> list[str]:
    """Parameters of the method, as far as the equals sign."""
    from hullrank.cli.described import parameters_of

    method = context.params.get("method") or "hull"
    known = parameters_of(METHODS[method][0]) if method in METHODS else []
    return [f"{p['parameter']}=" for p in known if p["parameter"].startswith(incomplete)]


def _header(path: Any) -> list[str]:
    """The first line of a CSV file, or the schema of a Parquet or Arrow file; nothing if it cannot be read at once."""
    if path is None or not Path(path).is_file():
        return []
    from hullrank.exceptions import HullrankError
    from hullrank.io.content import Content
    from hullrank.io.csv_style import header_of
    from hullrank.io.tables import read_table

    try:
        content = Content.open(path)
        kind = content.kind(str(path))
        if kind == "csv":
            return header_of(content.head, str(path))[0]
        table = read_table(path) if kind != "svmlight" else None
    except (HullrankError, OSError, ImportError):
        return []
    return [] if table is None else list(getattr(table, "columns", []))
