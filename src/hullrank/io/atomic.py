"""Writing so that a file is either the old one or the new one, never half of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when the block ends well; after an error nothing has changed.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and are then renamed over ``path``. A
    path that is no regular file (a pipe, ``/dev/stdout``) is written to directly.

    Parameters
    ----------
    path : path of the file

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank.io import replacing
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "result.txt"
    >>> with replacing(path) as stream:
    ...     _ = stream.write(b"whole or not at all")
    >>> path.read_text()
    'whole or not at all'
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder; give the name of a file")
        with target.open("wb") as stream:
            yield stream
        return
    target = target.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
