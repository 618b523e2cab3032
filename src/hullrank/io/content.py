"""A file (or standard input) as bytes, unzipped, and what format it is in."""

import gzip
import io
import re
import sys
from pathlib import Path
from typing import Any

from polars.exceptions import PanicException, PolarsError

from hullrank.exceptions import TableError

MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "?")  # cells of text files that are missing
REFUSALS = (PolarsError, PanicException, ValueError)  # what Polars raises for a file that it does not like
INFER = 10_000  # rows from which column types are guessed before all rows are asked
ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".letor": "svmlight",
}  # fmt: skip
_SAVE_AS_CSV = "save it as CSV or Parquet"
# What files that are no tables, or not ours to read, begin with; and what to do with them.
STRANGERS: dict[bytes, tuple[str, str]] = {
    b"\xd0\xcf\x11\xe0": ("an old Excel file (.xls)", "save it as .xlsx or CSV"),
    b"SQLite format 3": ("a SQLite database", "export the table as CSV"),
    b"$FL2": ("an SPSS file", _SAVE_AS_CSV),
    b"$FL3": ("an SPSS file", _SAVE_AS_CSV),
    b"<stata_dta>": ("a Stata file", _SAVE_AS_CSV),
    b"\x89HDF": ("an HDF5 file", _SAVE_AS_CSV),
    b"\x93NUMPY": ("a NumPy array", "give its columns names and save it as CSV or Parquet"),
    b"%PDF": ("a PDF document", "copy its table to a spreadsheet and save that as CSV"),
    b"\x80\x04\x95": ("a Python pickle", _SAVE_AS_CSV),
    b"7z\xbc\xaf": ("a 7-Zip archive", "unpack it first"),
    b"Rar!": ("a RAR archive", "unpack it first"),
    b"BZh": ("a bzip2 archive", "unpack it first"),
    b"\xfd7zXZ": ("an xz archive", "unpack it first"),
    b"\x28\xb5\x2f\xfd": ("a Zstandard archive", "unpack it first"),
}
_ZIPPED = b"PK\x03\x04"
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_SVMLIGHT = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?\r?(\n|\Z)")


class Content:
    """The path of a file that may be mapped or streamed, else its bytes; with its name and first bytes at hand."""

    def __init__(self, source: Path | bytes, name: str) -> None:
        self.source, self.name = source, name
        with self.stream() as stream:
            self.head: bytes = stream.read(65536)

    @classmethod
    def open(cls, source: str | Path) -> "Content":
        """A file, or standard input for ``"-"``, unzipped if it is gzipped."""
        if str(source) == "-":
            data = sys.stdin.buffer.read()
            return cls(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, name_of(source))
        path = Path(source)
        with path.open("rb") as stream:
            zipped = stream.read(2) == b"\x1f\x8b"
        if zipped:
            with gzip.open(path) as unzipped:
                return cls(unzipped.read(), name_of(source))
        return cls(path, name_of(source))

    def stream(self) -> Any:
        """A new binary stream from the start."""
        return io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")

    def kind(self) -> str:
        """The format by the first bytes where they tell, else by the ending of the name; strangers are refused."""
        head, name = self.head, self.name
        if not head:
            raise TableError(f"{name} is empty")
        if head[:4] == b"PAR1":
            return "parquet"
        if head[:6] == b"ARROW1":
            return "arrow"
        if head[:4] == _ZIPPED:
            return self._zipped_kind()
        stranger = next((told for start, told in STRANGERS.items() if head.startswith(start)), None)
        if _WEB_PAGE.match(head):
            stranger = ("a web page", "download the table itself")
        if stranger:
            raise TableError(f"{name} is {stranger[0]}, which hullrank does not read; {stranger[1]}")
        ending = Path(name.removesuffix(".gz")).suffix.lower()
        if ending in ENDINGS:
            return ENDINGS[ending]
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start[:1] == b"{":
            return "jsonl"
        if ending == ".json" or re.match(rb"\[\s*[\[{\]]", start):
            return "json"
        return "svmlight" if _SVMLIGHT.match(_first_row(head)) else "csv"

    def _zipped_kind(self) -> str:
        name = self.name
        if b"header.json" in self.head[:60]:
            raise TableError(f"{name} is a model file; give the table, and the model in the place of the model")
        if b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet" in self.head[:100]:
            return "spreadsheet"
        if b"[Content_Types].xml" in self.head or b"xl/" in self.head or name.lower().endswith((".xlsx", ".xlsm")):
            return "spreadsheet"
        raise TableError(f"{name} is a zip archive; unpack it first")

    def unreadable(self, what: str, error: BaseException) -> TableError:
        """The error for content that is not what it was taken for."""
        return TableError(f"{self.name} cannot be read as {what}: {reason(error)}")

    def check_text(self) -> None:
        """Refuse what is no UTF-8 text by its first bytes."""
        if self.head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise TableError(f"{self.name} is UTF-16, which hullrank reads in CSV files only; save it as UTF-8")
        if b"\0" in self.head:
            raise TableError(f"{self.name} is not text, and in none of the known formats")


def name_of(source: str | Path) -> str:
    """What messages call a file, or standard input."""
    return "standard input" if str(source) == "-" else str(source)


def _first_row(head: bytes) -> bytes:
    """Without the comment lines that SVMlight files may start with."""
    lines = head.splitlines(keepends=True)
    return b"".join(lines[next((i for i, line in enumerate(lines) if line[:1] != b"#"), 0) :][:1])


def reason(error: BaseException) -> str:
    """The first line of what an error says."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
