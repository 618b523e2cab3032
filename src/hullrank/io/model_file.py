"""Model files (``.hull``): a zip of a JSON header and NumPy arrays. Loading runs no code of the file's choosing.

Members, stored without compression so that a file can never unpack to more than its own size:

    header.json     {"format": 1, "library": "0.1.0", "about": {...}, "model": <tree of hullrank.io.state>}
    0.npy, 1.npy …  the arrays that the tree refers to
    SHA256          digests of all other members
"""

import hashlib
import io
import json
import os
import struct
import zipfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hullrank
from hullrank.exceptions import HullrankError, ModelFileError
from hullrank.io.atomic import replacing
from hullrank.io.state import Reader, Writer

FORMAT = 1
_MOST_ARRAYS = 10_000


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: the fitted estimator, notes of whoever saved it, and the version that wrote it.

    Parameters
    ----------
    estimator : fitted estimator
    about : dict of JSON values
        Notes of whoever saved it.
    library : str
        The version of hullrank that wrote the file.
    format : int
        The version of the file format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.io import read_model, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.hull"
    >>> save(FixedMarginClassifier().fit(*make_ordinal(60, 2, random_state=0)), path, about={"who": "me"})
    >>> read_model(path).about
    {'who': 'me'}
    """

    estimator: Any
    about: dict[str, Any] = field(default_factory=dict)
    library: str = ""
    format: int = FORMAT


def save(estimator: Any, path: str | os.PathLike[str], *, about: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to a model file; the file appears whole or not at all.

    Parameters
    ----------
    estimator : fitted estimator
        Any estimator of hullrank, or a Pipeline of `TableEncoder`, StandardScaler and one of them.
    path : path of the file, by custom ending in ``.hull``
    about : dict of JSON values, default=None
        Notes kept in the header.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.io import load, save
    >>> X, y = make_ordinal(60, 2, random_state=0)
    >>> model = FixedMarginClassifier().fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.hull"
    >>> save(model, path)
    >>> bool((load(path).predict(X) == model.predict(X)).all())
    True
    """
    writer = Writer()
    tree = writer.encode(estimator)
    header = {"format": FORMAT, "library": hullrank.__version__, "about": about or {}, "model": tree}
    members = {"header.json": json.dumps(header, allow_nan=False, indent=1).encode()}
    for n, array in enumerate(writer.arrays):
        members[f"{n}.npy"] = _npy(array)
    members["SHA256"] = "".join(f"{_digest(data)}  {name}\n" for name, data in members.items()).encode()
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator of a model file; see `read_model` for the notes that come with it.

    Parameters
    ----------
    path : path of the file

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.io import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.hull"
    >>> save(FixedMarginClassifier().fit(*make_ordinal(60, 2, random_state=0)), path)
    >>> load(path)
    FixedMarginClassifier()
    """
    return read_model(path).estimator


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file, refusing one that is damaged, hostile or too new with a ModelFileError.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    model : ModelFile

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.io import read_model, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.hull"
    >>> save(FixedMarginClassifier().fit(*make_ordinal(60, 2, random_state=0)), path)
    >>> read_model(path).estimator
    FixedMarginClassifier()
    """
    name = os.fspath(path)
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        return _read(data)
    except RecursionError as error:
        raise ModelFileError(f"{name} is no usable model file: its header is nested too deeply") from error
    except HullrankError as error:
        raise ModelFileError(f"{name} is no usable model file: {error}") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, OSError, RuntimeError, struct.error) as error:
        raise ModelFileError(f"{name} is no model file, or is damaged or cut short ({error}); save it again") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        detail = f"{type(error).__name__}: {error}"[:200]
        raise ModelFileError(f"{name} is no usable model file: its contents do not fit together ({detail})") from error


def _read(data: bytes) -> ModelFile:
    members = _members(data)
    listed = "".join(f"{_digest(data)}  {name}\n" for name, data in members.items() if name != "SHA256")
    if members["SHA256"] != listed.encode():
        raise ModelFileError("its digest is wrong, so it was changed or damaged; save it again")
    header = json.loads(members["header.json"].decode("utf-8"), parse_constant=_refuse_constant)
    version = header["format"]
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format {str(version)[:40]!r} is none")
    if version > FORMAT:
        raise ModelFileError(
            f"its format {version} is newer than {FORMAT}, the newest this hullrank reads; "
            f"it was written by hullrank {str(header.get('library'))[:40]}: upgrade with pip install -U hullrank"
        )
    if not isinstance(header["about"], dict) or not isinstance(header["library"], str):
        raise ModelFileError("its header is malformed")
    arrays = [_array(members[f"{n}.npy"]) for n in range(len(members) - 2)]
    estimator = Reader(arrays).decode(header["model"])
    if not hasattr(estimator, "score_samples"):
        raise ModelFileError("it holds no model that scores samples")
    return ModelFile(estimator, header["about"], header["library"], version)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        expected = ["header.json", *(f"{n}.npy" for n in range(len(infos) - 2)), "SHA256"]
        if len(infos) > _MOST_ARRAYS or [info.filename for info in infos] != expected:
            raise ModelFileError("its members are not those of a model file")
        stored = all(info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1 for info in infos)
        if not stored or sum(info.file_size for info in infos) > len(data):
            raise ModelFileError("its members are compressed, encrypted or overlapping, which model files never are")
        return {info.filename: archive.read(info) for info in infos}


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(data: bytes) -> NDArray[Any]:
    """An array from the bytes of an npy file of version 1.0, once its size has been compared with its shape."""
    buffer = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise ModelFileError("one of its arrays is in an unknown format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    except Exception as error:  # NumPy lets errors of Python's tokenizer and parser through
        raise ModelFileError(f"one of its arrays has a malformed header ({type(error).__name__})") from error
    start = buffer.tell()
    if dtype.kind not in "biufUS" or dtype.itemsize == 0 or fortran:
        raise ModelFileError(f"one of its arrays holds {dtype}, which model files never do")
    count = 1
    for extent in shape:
        if type(extent) is not int or not 0 <= extent <= len(data):
            raise ModelFileError("one of its arrays has an impossible shape")
        count *= extent
    if count * dtype.itemsize != len(data) - start:
        raise ModelFileError("one of its arrays is longer or shorter than its shape")
    return np.frombuffer(data, dtype, count, start).reshape(shape).copy()


def _refuse_constant(text: str) -> Any:
    raise ModelFileError(f"its header holds {text}, which is no JSON")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
