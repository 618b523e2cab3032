"""Text files that are not UTF-8, as spreadsheets write them: UTF-16, and Windows-1252 (which holds Latin-1)."""

import codecs
import re

from hullrank.exceptions import TableError
from hullrank.io.content import Content

WINDOWS = "Windows-1252"
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # bytes that text does not have


def as_utf8(content: Content) -> tuple[Content, str | None]:
    """The content in UTF-8, and the encoding that it was in if that was another one, told by its first bytes."""
    encoding = next((found for mark, found in _MARKS.items() if content.head.startswith(mark)), None)
    if encoding is None:
        encoding = _without_mark(content.head)
    if encoding is None:
        return content, None
    return converted(content, encoding), encoding


def converted(content: Content, encoding: str) -> Content:
    """The content in UTF-8 from a given encoding."""
    if encoding == WINDOWS and _CONTROL.search(content.head):
        raise TableError(f"{content.name} is not text, and in none of the known formats")
    with content.stream() as stream:
        held = stream.read()
    try:
        return Content(held.decode(encoding).encode(), content.name)
    except UnicodeError as error:
        raise TableError(
            f"{content.name} is neither UTF-8 nor {encoding} text; save it as UTF-8 (in Excel: CSV UTF-8)"
        ) from error


def _without_mark(head: bytes) -> str | None:
    """UTF-16 where nearly every second byte of the first line is 0; Windows-1252 where it cannot be UTF-8."""
    first = head[:200]
    for side, encoding in ((1, "UTF-16-LE"), (0, "UTF-16-BE")):
        if (
            len(first) >= 4
            and first[side::2].count(0) > 0.8 * len(first[side::2])
            and first.count(0) < 0.6 * len(first)
        ):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return WINDOWS
    return None
