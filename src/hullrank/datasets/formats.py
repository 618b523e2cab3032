"""From a public file to one table: a data frame with the target last, or a sparse matrix with queries."""

import csv
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hullrank.datasets.catalogue import Entry, Source

if TYPE_CHECKING:
    import polars as pl

    from hullrank.io import SparseTable

_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}


def read_source(entry: Entry, source: Source, path: Path) -> Any:
    """The table in the public file at ``path``; rows with a missing value are left out."""
    if source.format == "queries":
        return _read_queries(source, path)
    if source.format == "svmlight":
        return _read_svmlight(path, entry.facts.features)
    text = _text(source, path)
    if source.format == "arff":
        names, rows = _read_arff(text)
    else:
        rows = _split(text, source)[source.header :]
        names = source.fields.split()
    return _frame(entry, names, rows)


def _text(source: Source, path: Path) -> str:
    """The file, or the member of the archive that holds the table."""
    if not source.member:
        return path.read_text(encoding="utf-8", errors="replace")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return archive.read(source.member).decode()
    with tarfile.open(path) as packed:
        member = packed.extractfile(source.member)
        assert member is not None, f"{source.member} is not a file"
        return member.read().decode()


def _split(text: str, source: Source) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    if source.format == "blank":
        return [re.findall(r'"[^"]*"|\S+', line) for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=_DELIMITERS[source.format])]


def _read_arff(text: str) -> tuple[list[str], list[list[str]]]:
    """Names and rows; the last attribute is the target."""
    head, _, body = re.split(r"(?mi)^(\s*@data.*)$", text, maxsplit=1)
    quoted = re.findall(r"(?mi)^\s*@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", head)
    names = [name.strip("'\"") for name in quoted]
    lines = [line for line in body.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, quotechar="'", skipinitialspace=True)]
    return [*names[:-1], "target"], rows


def _frame(entry: Entry, names: list[str], rows: list[list[str]]) -> "pl.DataFrame":
    import polars as pl

    rows = [row for row in rows if "?" not in row and "" not in row]
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names) if name != "-"}
    frame = pl.DataFrame(columns).select(pl.exclude("target"), "target")
    numeric = [name for name in frame.columns if frame[name].cast(pl.Float64, strict=False).null_count() == 0]
    frame = frame.with_columns(pl.col(numeric).cast(pl.Float64))
    if entry.levels:
        place = {level: grade for grade, level in enumerate(entry.levels, start=1)}
        frame = frame.with_columns(pl.col("target").replace_strict(place))
    if entry.grades:
        frame = frame.with_columns(pl.col("target").rank("dense").cast(pl.Int64))
    if entry.one_hot:
        features = frame.drop("target").to_dummies().cast(pl.Float64)
        frame = features.with_columns(frame["target"])
    return frame


def _read_svmlight(path: Path, n_features: int) -> "pl.DataFrame":
    import polars as pl
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=n_features)
    columns = dict(zip((f"x{j + 1}" for j in range(n_features)), X.toarray().T, strict=True))
    return pl.DataFrame({**columns, "target": y})


def _read_queries(source: Source, path: Path) -> "SparseTable":
    """Rows with queries: named in the file, or by the number of rows of each in a second file beside it."""
    from sklearn.datasets import load_svmlight_file

    from hullrank.io import SparseTable

    lines = re.sub(rb"#.*", b"", path.read_bytes())
    if not source.sizes:
        X, y, qid = load_svmlight_file(io.BytesIO(lines), query_id=True)
        return SparseTable(X, y, qid)
    X, y = load_svmlight_file(io.BytesIO(lines))
    sizes = np.loadtxt(path.with_name(source.sizes.rsplit("/", 1)[-1]), dtype=np.intp, ndmin=1)
    return SparseTable(X, y, np.repeat(source.first_query + np.arange(len(sizes)), sizes))
