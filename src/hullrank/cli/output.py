"""Where results go: places checked before the work begins, tables in the format of their ending, ``-`` for stdout."""

import os
import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from hullrank.exceptions import HullrankError
from hullrank.io.atomic import replacing
from hullrank.io.content import ENDINGS
from hullrank.io.csv_style import Style
from hullrank.io.numbers import read_numbers
from hullrank.io.parquet_parts import files_of

STDOUT = "-"
Read = Mapping[str, Path | None]  # files that a command reads, by what they are to it: {"model": ..., "table": ...}
_COLUMNS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_LINES = (".jsonl", ".ndjson")
_SEPARATORS = {".tsv": "\t", ".tab": "\t"}
# Endings that promise something else than what would be written, and what to write instead.
_OTHERS = {
    ".xlsx": "write .csv, which spreadsheets open", ".xls": "write .csv, which spreadsheets open",
    ".ods": "write .csv, which spreadsheets open", ".html": "`hullrank report` writes HTML",
    ".hull": "`hullrank fit` writes model files", ".pdf": "write .csv",
    ".gz": "write .csv and pack it", ".zip": "write .csv and pack it",
}  # fmt: skip

REPORT, PICTURE, GRAPH = "a report is an HTML page", "the picture is a PNG file", "an exported model is an ONNX file"
_ENDINGS = {REPORT: (".html", ".htm"), PICTURE: (".png",), GRAPH: (".onnx",)}


def check_place(path: Path, *, is_a: str, as_json: bool, read: Read | None = None, option: str = "--out") -> None:
    """Refuse a place where a picture, report or graph cannot be written, before the work is done rather than after.

    Parameters
    ----------
    path : the file to write; "-" is stdout
    is_a : the kind of the file, which its name must end in
    as_json : whether stdout is needed for JSON
    read : the files that the command reads, none of which is replaced by what it writes
    option : the option that names the place
    """
    _check_writable(path, as_json, read, option)
    is_pipe = str(path) == STDOUT or (path.exists() and not path.is_file())
    if path.suffix.lower() not in _ENDINGS[is_a] and not is_pipe:
        raise HullrankError(f"{is_a}; give a name that ends in {_ENDINGS[is_a][0]}, and not {path}")


def check_model_place(path: Path, *, as_json: bool, overwrite: bool, read: Read) -> None:
    """The same for model files, which are no tables and are replaced only on purpose."""
    _check_writable(path, as_json, read)
    if path.is_file() and not overwrite:
        raise HullrankError(f"{path} exists already; give --force to replace it, or --out with another name")
    if path.suffix.lower() in ENDINGS or path.suffix.lower() in (".xlsx", ".json", ".onnx"):
        raise HullrankError(f"{path} would be a model file, which ends in .hull; `hullrank rank` writes tables")


def check_table_place(path: Path | None, *, as_json: bool, read: Read | None = None) -> None:
    """The same for tables, whose ending says the format; None is no file."""
    if path is None:
        return
    _check_writable(path, as_json, read)
    if path.suffix.lower() in _OTHERS:
        raise HullrankError(f"hullrank does not write tables as {path.suffix}; {_OTHERS[path.suffix.lower()]}")


def _check_writable(path: Path, as_json: bool, read: Read | None, option: str = "--out") -> None:
    if str(path) == STDOUT:
        if as_json:
            raise HullrankError(f"--json and the file cannot both go to standard output; give {option} a name")
        return
    for what, source in (read or {}).items():
        files = _sources(source) if path.is_file() else []
        if any(path.samefile(file) for file in files):
            part = "part of " if len(files) > 1 else ""
            raise HullrankError(f"{path} is {part}the {what} that is read; give {option} another name")
    folder = path.parent
    if path.is_dir():
        raise HullrankError(f"{path} is a folder; give the name of a file")
    if not folder.is_dir():
        raise HullrankError(f"there is no folder {folder} to write {path.name} to; make it first (mkdir -p {folder})")
    try:
        if path.is_file() or not path.exists():
            tempfile.TemporaryFile(dir=folder).close()
        elif not os.access(path, os.W_OK):
            raise PermissionError
    except PermissionError as error:
        raise HullrankError(f"{path} cannot be written: no permission to write to {folder}") from error
    except OSError as error:
        raise HullrankError(f"{path} cannot be written: no file can be made in {folder} ({error.strerror})") from error


def _sources(source: Path | None) -> list[Path]:
    """The files that a name stands for: none, one, or those of a folder or pattern."""
    return [] if source is None or str(source) == STDOUT else [file for file in files_of(source) if file.is_file()]


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """The path to write to; what is written for "-" goes to stdout at the end."""
    if str(path) != STDOUT:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder) / "file"
        yield held
        with held.open("rb") as stream:
            sys.stdout.flush()
            shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def is_text(path: Path) -> bool:
    """Whether a table is written as CSV or TSV, whose cells are words."""
    return path.suffix.lower() not in (*_COLUMNS, *_LINES, ".json")


def write_tables(frames: Iterable[pl.DataFrame], path: Path, *, raw: bool = False, style: Style | None = None) -> None:
    """Write a table in parts, one after another, in the format of the ending (CSV if there is none).

    The old file stays whole if that fails. CSV files get the separator and the decimal sign of ``style``, and a byte
    order mark if the table had one or was not UTF-8, so that the program that wrote the table opens it.
    """
    ending = path.suffix.lower()
    with placed(path) as place, replacing(place) as stream:
        if ending in _COLUMNS:
            _write_columns(frames, stream, is_parquet=ending in (".parquet", ".pq"))
        elif ending in _LINES:
            for frame in frames:
                frame.write_ndjson(stream)
        elif ending == ".json":
            for i, frame in enumerate(frames):
                stream.write(("[" if i == 0 else ",").encode() + frame.write_json().encode()[1:-1])
            stream.write(b"]")
        else:
            style = style or Style()
            separator = _SEPARATORS.get(ending, style.separator)
            if style.marked or style.encoding is not None:
                stream.write(BOM_UTF8)  # programs that write other encodings, or the mark, know UTF-8 by it alone
            for i, frame in enumerate(frames):
                cells = _with_commas(frame) if style.decimal == "," else frame
                (cells if raw else defused(cells)).write_csv(stream, separator=separator, include_header=i == 0)


def _write_columns(frames: Iterable[pl.DataFrame], stream: IO[bytes], *, is_parquet: bool) -> None:
    """Parquet or Arrow, whose parts Polars only joins from files and, in older releases, only into a file."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, frame in enumerate(frames):
            files.append(Path(folder) / f"{i}.parquet")
            frame.write_parquet(files[-1])
        rows = pl.scan_parquet(files)
        whole = Path(folder) / "whole"
        (rows.sink_parquet if is_parquet else rows.sink_ipc)(whole)
        with whole.open("rb") as written:
            shutil.copyfileobj(written, stream)


def _with_commas(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with its fractions as words, with a decimal comma."""
    fractions = pl.selectors.float()
    return frame.with_columns(fractions.cast(pl.String).str.replace(".", ",", literal=True))


def defused(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before words that a spreadsheet would run: those that begin with = + - or @.

    Numbers in words, such as ``-1.234,50 €``, stay as they are.
    """
    cells = [_defused(frame[name]) if frame[name].dtype == pl.String else frame[name] for name in frame.columns]
    return frame.with_columns(cells).rename({name: f"'{name}" for name in frame.columns if name[:1] in _RUN})


_RUN = ("=", "+", "-", "@", "\t", "\r")


def _defused(cells: pl.Series) -> pl.Series:
    words = cells.filter(cells.str.contains(r"^[=+\-@\t\r].").fill_null(False))
    words = words.filter(~words.str.contains(r"^[-+]\d+[.,]?\d*$")).unique()  # most numbers, quickly
    numbers = read_numbers(words, ".").is_not_null() | read_numbers(words, ",").is_not_null()
    runs = cells.is_in(words.filter(~numbers).to_list()).fill_null(False)
    return ("'" + cells).zip_with(runs, cells).alias(cells.name)
