"""Tables that are sent: written to a folder under a harmless name, refused where they are too large, packed or not."""

import asyncio
import gzip
import re
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

from hullrank.app.limits import MB, Limits
from hullrank.io.content import ENDINGS

_KNOWN = (*ENDINGS, ".json", ".xlsx", ".xlsm", ".ods", ".gz")
_LONGEST = 60  # characters of a name
_PIECE = MB


class RefusedError(ValueError):
    """An upload or a request that is not taken; ``status`` is its HTTP status."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


def harmless_name(name: str) -> str:
    """The last part of a name, in letters, digits, blanks and ``._-`` only, with an ending of a table or none."""
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w. -]", "_", last).strip(" .-_")[-_LONGEST:].strip(" .-_")
    if not plain:
        return "table"
    return plain if Path(plain).suffix.lower() in _KNOWN else plain.replace(".", "_")


async def receive(pieces: AsyncIterator[bytes], folder: Path, name: str, limits: Limits) -> Path:
    """Write what is sent to the folder, which then holds this table alone; if it is refused, the earlier one stays."""
    held = folder / ".arriving"
    try:
        with held.open("wb") as stream:
            await _write(pieces, stream, limits)
        await asyncio.to_thread(check_unpacked, held, limits)
    except BaseException:
        held.unlink(missing_ok=True)
        raise
    for earlier in folder.iterdir():
        if earlier != held:
            earlier.unlink()
    return held.rename(folder / harmless_name(name))


async def _write(pieces: AsyncIterator[bytes], stream: BinaryIO, limits: Limits) -> None:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > limits.upload:
            raise too_large(limits)
        stream.write(piece)
    if not size:
        raise RefusedError("the file is empty")


def too_large(limits: Limits) -> RefusedError:
    """The answer to an upload beyond the limit."""
    return RefusedError(
        f"the file is larger than {limits.upload // MB:,} MB, the most that this page takes; use `hullrank fit` on the "
        "command line, or start the page with --max-upload",
        413,
    )


def check_unpacked(path: Path, limits: Limits) -> None:
    """Refuse a gzipped file or a spreadsheet (a zip archive) that unpacks to more than the limit, by unpacking it."""
    with path.open("rb") as stream:
        head = stream.read(4)
    if head[:2] == b"\x1f\x8b":
        sizes = _unpacked_gzip(path)
    elif head == b"PK\x03\x04":
        sizes = _unpacked_zip(path)
    else:
        return
    size = 0
    try:
        for piece in sizes:
            size += piece
            if size > limits.unpacked:
                raise RefusedError(
                    f"the file unpacks to more than {limits.unpacked // MB:,} MB, the most that this page takes", 413
                )
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise RefusedError("the file is damaged or cut short") from error


def _unpacked_gzip(path: Path) -> Iterator[int]:
    with gzip.open(path) as stream:
        while piece := stream.read(_PIECE):
            yield len(piece)


def _unpacked_zip(path: Path) -> Iterator[int]:
    """What really comes out of every member, whatever sizes the archive declares."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_DEFLATED:
                yield member.file_size
                continue
            stream.seek(member.header_offset + 26)  # where the local header has the lengths of name and extra field
            lengths = stream.read(4)
            stream.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
            yield from _inflated(stream)


def _inflated(stream: BinaryIO) -> Iterator[int]:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    while not inflate.eof and (packed := inflate.unconsumed_tail or stream.read(_PIECE)):
        yield len(inflate.decompress(packed, _PIECE))
