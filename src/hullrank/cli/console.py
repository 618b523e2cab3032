"""What the command says: tables on stdout, notes and errors on stderr, JSON for machines."""

import json
import math
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from hullrank.cli import events
from hullrank.cli.wording import in_command_terms

_DEBUG = "HULLRANK_DEBUG"
out = Console()
err = Console(stderr=True, soft_wrap=True)


class _Stop:
    """Whether someone has pressed Ctrl-C: solvers answer it by the best model so far, not by ending the program."""

    asked = False


def stopped() -> bool:
    """Whether Ctrl-C was pressed."""
    return _Stop.asked


def _ask_to_stop(*_: Any) -> None:
    if _Stop.asked:  # twice: nothing is worth waiting for
        os._exit(130)
    _Stop.asked = True
    note("\nstopping; Ctrl-C again to leave at once")
    raise KeyboardInterrupt


def _unless_stopped(unraisable: Any) -> None:
    """What callbacks of compilers cannot raise is printed, unless it is Ctrl-C."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Turn what can go wrong into one sentence on stderr and exit code 1; HULLRANK_DEBUG=1 shows the traceback."""
    _Stop.asked = False
    warnings.showwarning = _show_warning
    before = signal.signal(signal.SIGINT, _ask_to_stop)
    hook, sys.unraisablehook = sys.unraisablehook, _unless_stopped
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said
        sys.exit(1)
    except Exception as error:
        if _Stop.asked:  # it interrupted code that answers by an error of its own, such as a compiler
            sys.exit(130)
        if os.environ.get(_DEBUG):
            raise
        note(_sentence(error), "error: ", "bold red")
        sys.exit(1)
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return "not enough memory for this data; use fewer rows or columns"
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError | ImportError):
        return in_command_terms(text)
    return f"unexpected {type(error).__name__}: {text} (set {_DEBUG}=1 for the details)"


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        warn(str(message))


def warn(text: str) -> None:
    """A warning on stderr, in the words of the command; what only says that someone pressed Ctrl-C is left out."""
    if not (_Stop.asked and "'interrupted'" in text):
        note(in_command_terms(text), "warning: ", "yellow")


def note(text: str, head: str = "", style: str = "dim") -> None:
    """A line on stderr."""
    if events.wanted():
        events.tell(**{head.strip(": ") or "note": text.strip()})
        return
    err.print(Text.assemble((head, style), (text, "" if head else style)))


def say(text: str, style: str = "", *, to_stderr: bool = False) -> None:
    """A line on stdout, as it is; on stderr where stdout carries a file."""
    (err if to_stderr else out).print(Text(text, style=style), soft_wrap=True)


@contextmanager
def working(text: str, *, keep: bool = False) -> Iterator[Callable[[float, str], None]]:
    """A line on stderr with a bar and the time while something takes its time; silent where stderr is no terminal.

    Gives a function of the share that is done and a remark; until it is called the bar only pulses. The line stays if
    the work took a second or more. After Ctrl-C the program ends here, unless what was done so far is worth to
    ``keep``.
    """
    with _shown(text) as advance:
        yield advance
    if _Stop.asked and not keep:
        raise KeyboardInterrupt


def _shown(text: str) -> AbstractContextManager[Callable[[float, str], None]]:
    if events.wanted():
        events.tell(working=text)
        return nullcontext(lambda share, remark: events.tell(share=round(share, 4), remark=remark))
    return _bar(text) if err.is_terminal else nullcontext(lambda share, remark: None)


@contextmanager
def _bar(text: str) -> Iterator[Callable[[float, str], None]]:
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


def table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    *,
    left: int = 1,
    right: tuple[int, ...] | None = None,
) -> Group:
    """A table under its title; the first ``left`` columns are words and the others numbers, or those in ``right``."""
    grid = Table(header_style="bold", box=None, pad_edge=False)
    for i, name in enumerate(columns):
        grid.add_column(
            Text(name), justify="right" if (i >= left if right is None else i in right) else "left", overflow="fold"
        )
    for row in rows:
        grid.add_row(*(Text(cell(value)) for value in row))
    return Group(Text(title, style="bold"), grid) if title else Group(grid)


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
