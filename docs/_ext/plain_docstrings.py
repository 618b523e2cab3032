"""Docstrings are plain English: bars around vectors and names that end in underscores are no markup.

Classes whose constructor takes private parts, because class methods make them, are shown without its signature.
"""

import re
from typing import Any

_LITERAL = re.compile(r"(``[^`]*``|:[a-z]+:`[^`]*`|`[^`]*`_?)")
_TRAILING = re.compile(r"(?<=\w)_(?!\w)")


def escaped(text: str) -> str:
    """The text with bars and trailing underscores outside of literals made plain."""
    parts = _LITERAL.split(text)
    return "".join(
        part if i % 2 else _TRAILING.sub(r"\\_", re.sub(r"(?<!\\)\|", r"\\|", part)) for i, part in enumerate(parts)
    )


def _escape(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    doctest = False
    for i, line in enumerate(lines):
        doctest = line.lstrip().startswith(">>>") or (doctest and bool(line.strip()))
        if not doctest and not line.lstrip().startswith(".. "):
            lines[i] = escaped(line)


def _hide_private(
    app: Any, what: str, name: str, found: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    return ("", returns) if what == "class" and re.search(r"[(,]\s*_\w", signature or "") else None


def setup(app: Any) -> dict[str, bool]:
    """Escape after Napoleon, which has made fields of the sections."""
    app.connect("autodoc-process-signature", _hide_private)
    app.connect("autodoc-process-docstring", _escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
