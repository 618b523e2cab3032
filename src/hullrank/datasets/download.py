"""Fetching a public file: with a progress bar, checked against its checksum, and whole or not at all."""

import hashlib
import json
import os
import urllib.request
from pathlib import Path
from typing import Any

from hullrank.exceptions import DatasetError

OPENML = "https://www.openml.org/api/v1/json/data/"
_CHUNK = 1 << 16
_TIMEOUT = 30.0


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Where downloads are kept: ``data_home``, else ``$XDG_CACHE_HOME/hullrank``, else ``~/.cache/hullrank``."""
    if data_home is not None:
        return Path(data_home).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "hullrank"


def fetch(url: str, target: Path, checksum: str = "") -> None:
    """Download ``url`` (or the data set ``openml:NAME``) to ``target``; raises DatasetError and leaves nothing else."""
    from hullrank.io import replacing

    try:
        if url.startswith("openml:"):
            url, checksum = _openml_file(url.removeprefix("openml:"))
        target.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response, replacing(target) as stream:
            _copy(response, stream, target.name, checksum)
    except DatasetError:
        raise
    except (OSError, ValueError) as error:
        raise DatasetError(f"{url} could not be downloaded ({error})") from error


def _openml_file(name: str) -> tuple[str, str]:
    """Address and checksum of the first version of an OpenML data set, as OpenML states them."""
    listed = _json(f"{OPENML}list/data_name/{name}/data_version/1")["data"]["dataset"][0]
    described = _json(f"{OPENML}{listed['did']}")["data_set_description"]
    return str(described["url"]), f"md5:{described['md5_checksum']}"


def _json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
        return json.load(response)


def _copy(response: Any, stream: Any, name: str, checksum: str) -> None:
    """Copy with a progress bar (on a terminal), then compare length and checksum."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    algorithm, _, expected = checksum.partition(":")
    digest = hashlib.new(algorithm or "sha256", usedforsecurity=False)
    length = int(response.headers.get("Content-Length") or 0) or None
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task(name, total=length)
        received = 0
        while chunk := response.read(_CHUNK):
            digest.update(chunk)
            stream.write(chunk)
            received += len(chunk)
            progress.update(task, completed=received)
    if length is not None and received != length:
        raise DatasetError(f"{name} was cut short: {received} of {length} bytes arrived; try again")
    if expected and digest.hexdigest() != expected:
        raise DatasetError(
            f"{name} has the {algorithm} checksum {digest.hexdigest()} instead of {expected}; "
            "the source has changed or the download is damaged: try again"
        )
