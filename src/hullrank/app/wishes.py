"""What the page asks for, checked, and as arguments of the command."""

import json
import shlex
from dataclasses import dataclass, field
from typing import Any

from hullrank.app.uploads import RefusedError
from hullrank.models.catalogue import commands
from hullrank.order.builders import quoted

ROLES = ("feature", "target", "query", "weights", "left out")
_MOST_FOLDS = 20
_LONGEST = 100_000  # characters of one argument; systems take 131,072 bytes


@dataclass(frozen=True)
class Wishes:
    """The roles of the columns and the order of the grades; values of the wrong kind are refused."""

    roles: dict[str, str]
    levels: list[list[str]] | None = None  # from lowest to highest; grades of one level are not compared
    method: str = "hull"
    methods: list[str] = field(default_factory=list)
    folds: int = 5
    probabilities: bool = False

    @classmethod
    def read(cls, body: bytes, table: dict[str, Any]) -> "Wishes":
        """From the JSON that the page sends, about a table with these facts."""
        try:
            given = json.loads(body)
            wishes = cls(**given)
        except (ValueError, TypeError, RecursionError) as error:
            raise RefusedError("the page asked for something that cannot be read; reload it") from error
        wishes._check({column["column"] for column in table["columns"] or ()})
        return wishes

    def _check(self, columns: set[str]) -> None:
        if not isinstance(self.roles, dict) or not all(name in columns for name in self.roles):
            raise RefusedError("the page named a column that the table does not have; reload it")
        if any(role not in ROLES for role in self.roles.values()):
            raise RefusedError("the page gave a column a part that does not exist; reload it")
        if columns and len(self.named("target")) != 1:
            raise RefusedError("choose one column as the target")
        if max(len(self.named("query")), len(self.named("weights"))) > 1:
            raise RefusedError("choose at most one column for the queries and one for the weights")
        if self.levels is not None and not _is_levels(self.levels):
            raise RefusedError("the order of the grades cannot be read; reload the page")
        names = [self.method, *self.methods] if isinstance(self.methods, list) else [None]
        if not all(isinstance(name, str) and name in commands() for name in names):
            raise RefusedError("the page named a method that does not exist; reload it")
        if not isinstance(self.folds, int) or not 2 <= self.folds <= _MOST_FOLDS:
            raise RefusedError(f"choose 2 to {_MOST_FOLDS} folds")

    def named(self, role: str) -> list[str]:
        """The columns with a role."""
        return [name for name, given in self.roles.items() if given == role]

    def shared(self) -> list[str]:
        """Options about the table, for every command that learns; ``--name=value``, so that no value is an option."""
        options = {"target": "--target", "query": "--qid", "weights": "--weights", "left out": "--drop"}
        chosen = [f"{option}={name}" for role, option in options.items() for name in self.named(role)]
        if self.levels is not None:
            chosen.append("--order=" + " < ".join(", ".join(map(quoted, level)) for level in self.levels))
        if any(len(argument) > _LONGEST or "\0" in argument for argument in chosen):
            raise RefusedError(
                "the names of the columns or grades are too long, or hold a sign that no command line takes"
            )
        return chosen

    def fit(self, table: str) -> list[str]:
        """Arguments of ``hullrank fit``, as someone would type them."""
        probabilities = ["--probabilities"] if self.probabilities is True else []
        return ["fit", table, *self.shared(), f"--method={self.method}", *probabilities]

    def compare(self, table: str) -> list[str]:
        """Arguments of ``hullrank compare``."""
        methods = ",".join(self.methods) or "all"
        return ["compare", table, *self.shared(), f"--methods={methods}", f"--cv={self.folds}"]


def _is_levels(levels: Any) -> bool:
    return (
        isinstance(levels, list)
        and len(levels) > 0
        and all(isinstance(level, list) and level for level in levels)
        and all(isinstance(grade, str) for level in levels for grade in level)
    )


def typed(arguments: list[str]) -> str:
    """The same as a line for a shell."""
    return shlex.join(["hullrank", *arguments])
