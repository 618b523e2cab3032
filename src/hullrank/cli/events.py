"""What the command tells while it works, for programs that run it: with HULLRANK_EVENTS=1, JSON objects on stderr.

Every line is one object. ``{"note": …}``, ``{"warning": …}`` and ``{"error": …}`` are sentences; ``{"working": …}``
names what begins, ``{"share": …, "remark": …}`` says how far that is, and ``{"gap": …, "tol": …}`` is the relative gap
of a fit on its way down to the tolerance.
"""

import json
import os
import sys
from typing import Any

VARIABLE = "HULLRANK_EVENTS"


def wanted() -> bool:
    """Whether events take the place of sentences and bars on stderr."""
    return os.environ.get(VARIABLE) == "1"


def tell(**event: Any) -> None:
    """One event."""
    sys.stderr.write(json.dumps(event, ensure_ascii=True) + "\n")
    sys.stderr.flush()
