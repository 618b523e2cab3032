"""What the command says: tables on stdout, notes and errors on stderr, JSON for machines."""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

_DEBUG = "HULLRANK_DEBUG"
out = Console()
err = Console(stderr=True, soft_wrap=True)


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Turn what can go wrong into one sentence on stderr and exit code 1; HULLRANK_DEBUG=1 shows the traceback."""
    warnings.showwarning = _show_warning
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said
        sys.exit(1)
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        err.print(Text.assemble(("error: ", "bold red"), _sentence(error)))
        sys.exit(1)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return "not enough memory for this data; use fewer rows or columns"
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError | ImportError):
        return text
    return f"unexpected {type(error).__name__}: {text} (set {_DEBUG}=1 for the details)"


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        note(str(message), "warning: ", "yellow")


def note(text: str, head: str = "", style: str = "dim") -> None:
    """A line on stderr."""
    err.print(Text.assemble((head, style), (text, "" if head else style)))


def say(text: str, style: str = "") -> None:
    """A line on stdout, as it is."""
    out.print(Text(text, style=style), soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[Callable[[float, str], None]]:
    """A line on stderr with a bar and the time while something takes its time; silent where stderr is no terminal.

    Gives a function of the share that is done and a remark; until it is called the bar only pulses. The line stays if
    the work took a second or more.
    """
    if not err.is_terminal:
        yield lambda share, remark: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[remark]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(text, total=None, remark="")
        yield lambda share, remark: progress.update(task, total=1.0, completed=share, remark=remark)
        progress.update(task, total=1.0, completed=1.0)
        progress.live.transient = (progress.tasks[0].elapsed or 0.0) < 1.0


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, left: int = 1) -> Group:
    """A table under its title; the first ``left`` columns are words and the others numbers."""
    grid = Table(header_style="bold", box=None, pad_edge=False)
    for i, name in enumerate(columns):
        grid.add_column(Text(name), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell(value)) for value in row))
    return Group(Text(title, style="bold"), grid)


def cell(value: Any) -> str:
    """A value for people: six digits at most."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    return "" if value is None else str(value)


def print_json(payload: Any) -> None:
    """One JSON document on stdout, its own names in one word; numbers that are not finite become null or words."""
    if isinstance(payload, dict):
        payload = {name.replace(" ", "_"): value for name, value in payload.items()}
    sys.stdout.write(json.dumps(plain(payload), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """Python values that JSON knows."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value).replace("inf", "infinity")
    return value if value is None or isinstance(value, bool | int | float) else str(value)
