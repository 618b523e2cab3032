"""What the shell offers after the tab key: methods, the columns of the table, parameters."""

import os
import shlex
from pathlib import Path

from hullrank.cli.methods import METHODS, known_methods


def methods(incomplete: str) -> list[tuple[str, str]]:
    """Methods with what they are for."""
    return [(name, METHODS[name].purpose) for name in known_methods() if name.startswith(incomplete)]


def lists_of_methods(incomplete: str) -> list[str]:
    """The same for a list with commas: what is complete stays in front."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in ("all", *known_methods()) if name.startswith(last)]


def columns(incomplete: str) -> list[str]:
    """Names of the columns of the table that stands on the line already."""
    table = next((word for word in _line() if Path(word).is_file() and not word.endswith(".hull")), None)
    return [] if table is None else [name for name in header(Path(table)) if name.startswith(incomplete)]


def settings(incomplete: str) -> list[str]:
    """Parameters of the method that stands on the line, as far as the equals sign."""
    from hullrank.cli.described import parameters_of

    words = _line()
    named = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-m", "--method")]
    method = named[-1] if named and named[-1] in METHODS else "hull"
    known = parameters_of(METHODS[method].estimator)
    return [f"{p['parameter']}=" for p in known if p["parameter"].startswith(incomplete)]


def _line() -> list[str]:
    """The words on the line: while an option lacks its value, the parser knows nothing about the others."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        return shlex.split(line)
    except ValueError:  # a quote that is still open
        return line.split()


def header(path: Path) -> list[str]:
    """The first line of a CSV file, or the names of the columns of another table; nothing if it cannot be read."""
    from hullrank.exceptions import HullrankError
    from hullrank.io.content import Content
    from hullrank.io.csv_style import header_of
    from hullrank.io.encodings import as_utf8
    from hullrank.io.tables import read_table

    try:
        content = Content.open(path)
        kind = content.kind()
        if kind == "csv":
            return header_of(as_utf8(content)[0].head, content.name)[0]
        return [] if kind == "svmlight" else list(getattr(read_table(path), "columns", []))
    except (HullrankError, OSError, ImportError):
        return []
