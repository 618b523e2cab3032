"""How much the page takes, in one place."""

import os
from dataclasses import dataclass, field

MB = 2**20


def _half_of_memory() -> int:
    """Half of the machine's memory in bytes, at least 2 GB; 8 GB where the system does not tell."""
    try:
        return max(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, 2048 * MB)
    except (AttributeError, OSError, ValueError):
        return 8192 * MB


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    upload: int = 200 * MB  # a table as it is sent
    unpacked: int = 2048 * MB  # the same table unzipped
    request: int = MB  # any other request
    memory: int = field(default_factory=_half_of_memory)  # data of one run of the command (Linux)
    seconds: float = 3600.0  # one run of the command, which is then asked to stop with what it has
    runs: int = 2  # runs of the command at the same time, of all sessions together
    sessions: int = 20  # the one that was idle longest makes room for a new one
    events: int = 4000  # that are kept of one job
