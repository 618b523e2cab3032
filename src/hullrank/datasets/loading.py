"""``load_dataset``: a named data set from your own folder, the cache, or its public source."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from hullrank.datasets.catalogue import CATALOGUE, Entry
from hullrank.datasets.download import cache_folder, fetch
from hullrank.datasets.formats import read_source
from hullrank.exceptions import DatasetError, MissingExtraError

FOLDER = "HULLRANK_DATA"
_ENDINGS = (".csv", ".csv.gz", ".svmlight", ".svmlight.gz")


def dataset_names() -> list[str]:
    """All names that ``load_dataset`` knows.

    Examples
    --------
    >>> from hullrank.datasets import dataset_names
    >>> "abalone" in dataset_names()
    True
    """
    return sorted(CATALOGUE)


def load_dataset(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load a data set by name.

    Looked for as ``NAME.csv`` or ``NAME.svmlight`` (plain or ``.gz``) in the folder that the environment variable
    ``HULLRANK_DATA`` names, then in the cache folder, and then downloaded there from its public source. Whatever it is
    read from, its shape and the means of its target and features are compared with those on record.

    Parameters
    ----------
    name : str
        One of ``dataset_names()``.
    data_home : path, default=None
        Cache folder; None is ``$XDG_CACHE_HOME/hullrank``, else ``~/.cache/hullrank``.
    download_if_missing : bool, default=True
        Whether to download what is not found.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether data and target are pandas objects; nominal features are then categorical.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples, n_features): float64, an object array where a nominal feature has strings, sparse for sets
        with queries; ``target`` (n_samples,); ``feature_names``; ``nominal``, the names of nominal features; ``qid``
        (n_samples,) or None; ``frame`` (with ``as_frame=True``); ``DESCR``; ``filename``.

    Examples
    --------
    >>> from hullrank.datasets import load_dataset
    >>> bunch = load_dataset("autompg")  # doctest: +SKIP
    >>> bunch.data.shape  # doctest: +SKIP
    (392, 7)
    """
    if name not in CATALOGUE:
        raise DatasetError(f"there is no data set {name!r}; known are {', '.join(dataset_names())}")
    entry = CATALOGUE[name]
    if entry.parts:
        import polars as pl

        tables, paths = zip(*(_locate(part, data_home, download_if_missing) for part in entry.parts), strict=True)
        table, path = pl.concat(tables), paths[0]
    else:
        table, path = _locate(name, data_home, download_if_missing)
    bunch = _bunch(entry, table, as_frame)
    _check(name, entry, bunch, path)
    if return_X_y:
        return bunch.data, bunch.target
    bunch.update(DESCR=entry.about, filename=str(path))
    return bunch


def _locate(name: str, data_home: Any, download: bool) -> tuple[Any, Path]:
    """The table and the file it was read from."""
    from hullrank.io import read_table

    entry, cache = CATALOGUE[name], cache_folder(data_home)
    folders = [Path(os.environ[FOLDER]).expanduser()] if os.environ.get(FOLDER) else []
    for folder in (*folders, cache):
        for ending in _ENDINGS:
            path = folder / f"{name}{ending}"
            if path.is_file():
                return read_table(path, n_features=entry.facts.features if "svmlight" in ending else None), path
    source = entry.source
    if source is None:
        raise DatasetError(f"{name} is not here, and it has no public source. {_what_to_do(name, cache)}")
    path = cache / source.filename
    needed = {path: source.url} | ({cache / source.sizes.rsplit("/", 1)[-1]: source.sizes} if source.sizes else {})
    for target, url in needed.items():
        if target.is_file():
            continue
        if not download:
            raise DatasetError(f"{name} is not here, and download_if_missing=False. {_what_to_do(name, cache)}")
        try:
            fetch(url, target, source.checksum)
        except DatasetError as error:
            raise DatasetError(f"{name} is not here, and {error}. {_what_to_do(name, cache)}") from error
    try:
        return read_source(entry, source, path), path
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise DatasetError(f"{path} does not read as {name} ({error}); delete it and try again") from error


def _what_to_do(name: str, cache: Path) -> str:
    source = CATALOGUE[name].source
    ending = "svmlight" if source is not None and source.format == "queries" else "csv"
    shape = "label qid:Q i:v ..." if ending == "svmlight" else "a header row, the target last and named 'target'"
    advice = f"Put {name}.{ending} ({shape}) into the folder named by {FOLDER}, or into {cache}"
    if source is None:
        return advice
    public = f"the OpenML data set {source.url[7:]} (ARFF)" if source.url.startswith("openml:") else source.url
    return f"{advice}; or save {public} as {cache / source.filename}"


def _bunch(entry: Entry, table: Any, as_frame: bool) -> Bunch:
    if hasattr(table, "qid"):
        names = [f"x{j + 1}" for j in range(table.X.shape[1])]
        bunch = Bunch(data=table.X, target=table.y, feature_names=names, nominal=[], qid=table.qid, frame=None)
        return _framed(bunch) if as_frame else bunch
    names = [column for column in table.columns if column != "target"]
    features = table.select(names)
    strings = [name for name in names if not features[name].dtype.is_numeric()]
    data = np.ascontiguousarray(features.to_numpy().astype(object if strings else np.float64))
    bunch = Bunch(data=data, target=table["target"].to_numpy(), feature_names=names, qid=None, frame=None)
    bunch.nominal = [name for name in names if name in entry.nominal or name in strings]
    return _framed(bunch) if as_frame else bunch


def _framed(bunch: Bunch) -> Bunch:
    """The same with pandas objects."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("as_frame=True needs pandas: pip install pandas") from error
    if sp.issparse(bunch.data):
        data = pd.DataFrame.sparse.from_spmatrix(bunch.data, columns=bunch.feature_names)
    else:
        data = pd.DataFrame(bunch.data, columns=bunch.feature_names).infer_objects()
        data = data.astype(dict.fromkeys(bunch.nominal, "category"))
    target = pd.Series(bunch.target, name="target")
    bunch.update(data=data, target=target, frame=pd.concat([data, target], axis=1))
    return bunch


def _check(name: str, entry: Entry, bunch: Bunch, path: Path) -> None:
    """Shape and means as on record; a wrong or damaged file is named."""
    facts = entry.facts
    target = np.asarray(bunch.target)
    codes = target if target.dtype.kind in "iuf" else np.unique(target, return_inverse=True)[1]
    found = {"rows": bunch.data.shape[0], "features": bunch.data.shape[1], "mean target": float(np.mean(codes))}
    wanted = {"rows": facts.rows, "features": facts.features, "mean target": facts.target}
    if facts.features_mean is not None:
        found["mean of numeric features"] = _numeric_mean(bunch.data)
        wanted["mean of numeric features"] = facts.features_mean
    for what, value in wanted.items():
        if not np.isclose(found[what], value, rtol=1e-4, atol=1e-6):
            raise DatasetError(
                f"{path} is not {name}: {what} is {found[what]:g}, on record is {value:g}; replace the file"
            )


def _numeric_mean(data: Any) -> float:
    if hasattr(data, "columns"):
        data = data.to_numpy()
    if data.dtype != object:
        return float(data.mean())
    numeric = [column for column in data.T if not isinstance(column[0], str)]
    return float(np.mean(np.array(numeric, dtype=np.float64)))
