"""A model file as the commands see it: scores, grades and the columns it was fitted with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hullrank._pipelines import unwrap
from hullrank.cli.console import note, warn
from hullrank.cli.data import Columns, Data, Reading, coded, load_data, target_values
from hullrank.cli.wording import listed
from hullrank.exceptions import HullrankError, TableError
from hullrank.io.parquet_parts import in_parts

RANKED = ("rank", "score", "row")  # columns that ``rank`` adds to every table


@dataclass(frozen=True)
class Model:
    """A loaded pipeline, its last step, and the notes of whoever saved it."""

    pipeline: Any
    about: dict[str, Any]
    library: str

    @classmethod
    def load(cls, path: Path, *tables: Path | None) -> "Model":
        """Read a model file; it and the tables must be there, which is asked before what takes a second to load."""
        if str(path) == "-":
            raise HullrankError("a model is not read from standard input; give the name of its file")
        for file in (path, *tables):
            if file is not None and str(file) != "-" and not in_parts(file):
                file.open("rb").close()
        if not _may_be_model(path):
            swapped = any(file is not None and file.is_file() and _may_be_model(file) for file in tables)
            hint = "give the model first, and then the table" if swapped else "`hullrank fit` makes one"
            raise HullrankError(f"{path} is no model file; {hint}")
        from hullrank.io import read_model

        held = read_model(path)
        return cls(held.estimator, held.about, held.library)

    @property
    def step(self) -> Any:
        """The model itself, without what prepares its input and without a calibrator around it."""
        return unwrap(self.pipeline).model

    @property
    def calibrator(self) -> Any | None:
        """What turns scores into probabilities of the grades, if the model has it."""
        around = unwrap(self.pipeline).calibrators
        return around[0] if around else None

    @property
    def classes(self) -> list[Any] | None:
        """The grades from lowest to highest, if the model knows them."""
        names = self.about.get("grades")
        known = getattr(self.step, "classes_", getattr(self.calibrator, "classes_", None))
        return names if names is not None else None if known is None else known.tolist()

    def feature_names(self) -> list[str]:
        """A name for every weight."""
        from hullrank.models.summary import feature_names

        return feature_names(self.pipeline, unwrap(self.pipeline))

    def named(self, given: Columns, *, weights_of_fit: bool = False) -> Columns:
        """The columns that play a part of their own: those given, else those of the fit (weights only on demand)."""
        if given.groups is not None and not hasattr(self.step, "groups_"):
            raise HullrankError("the model was fitted without --groups; leave it out")
        known = self.about
        return Columns(
            given.target or known.get("target") or None,
            given.qid or known.get("qid") or None,
            given.weights or (known.get("weights") if weights_of_fit else None),
            groups=given.groups or known.get("groups"),
        )

    def load_data(
        self, path: Path, columns: Columns, decimal: str | None, *, need_target: bool = True, verbatim: bool = False
    ) -> Data:
        """Read a table with the columns of the fit, as they were read then."""
        width = None if self._from_tables else getattr(self.pipeline, "n_features_in_", None)
        reading = self.reading(decimal, verbatim)
        data = load_data(path, columns, reading, n_features=width, need_target=need_target)
        if data.sparse and self._from_tables:
            raise TableError(f"{path} is SVMlight, without the column names that the model was fitted on")
        if data.title is not None and not {c["name"] for c in self.columns}.issubset(data.X.columns):
            raise TableError(f"{path} lacks columns that the model was fitted on; {data.title}")
        if self.predicted_target(data):
            self.tell_predicted_target(columns, str(path))
        return data

    def reading(self, decimal: str | None, verbatim: bool = False) -> Reading:
        """How the cells of a table are read: as those of the fit, unless its owner says otherwise."""
        known = self.about
        return Reading(decimal, usual=known.get("decimal"), target=known.get("target_form"), verbatim=verbatim)

    def known_columns(self, X: Any) -> Any:
        """The columns that the model was fitted to, without others of a table."""
        return X.select([column["name"] for column in self.columns]) if self._from_tables else X

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What the model knows of the columns of a table; nothing where it was fitted to a matrix."""
        return self.pipeline[0].columns_ if self._from_tables else []

    @property
    def _from_tables(self) -> bool:
        return hasattr(self.pipeline, "steps") and hasattr(self.pipeline[0], "columns_")

    def target(self, data: Data) -> Any:
        """The target as the model counts: grades by name, or their numbers."""
        return coded(target_values(data.y), self.about.get("grades"), "was not known when the model was fitted")

    def predicted_target(self, data: Data) -> bool:
        """Whether the target of a table is what this model says of it, in a table that ``rank`` wrote."""
        names = set() if data.rows is None else set(data.rows.columns)
        if data.y is None or not names.issuperset(RANKED) or f"{data.y.name}_" in names:
            return False  # where the table had grades of its own, ``rank`` called the others grade_
        grades = self.grades(data)
        return grades is not None and np.array_equal(self.target(data), grades)

    def tell_predicted_target(self, columns: Columns, name: str) -> None:
        """A warning about figures that compare the model with itself."""
        warn(
            f"column {columns.target!r} of {name} holds what this model predicted, since `hullrank rank` wrote it: "
            "figures of how well the model does on it mean nothing; give a table with grades from elsewhere"
        )

    def grades(self, data: Data) -> Any | None:
        """The predicted grade of every row (by its own group), or None where the model only scores."""
        from hullrank.plots.placement import bounds_of

        Z = unwrap(self.pipeline).transform(data.X)
        known = {} if data.groups is None else {"groups": data.groups}
        if hasattr(self.step, "predict_class"):
            return self.step.predict_class(Z, **known)
        if bounds_of(self.step).get("thresholds") is not None:
            return self.step.predict(Z, **known)
        return None if self.calibrator is None else self.calibrator.predict(Z)

    def probabilities(self, X: Any) -> dict[str, Any]:
        """A column of probabilities for every grade, lowest first; none without a calibrator."""
        if self.calibrator is None:
            return {}
        P = self.calibrator.predict_proba(unwrap(self.pipeline).transform(X))
        return {f"P({grade})": P[:, c] for c, grade in enumerate(self.classes or ())}

    def holds_training_rows(self, Z: Any, y: Any, given: dict[str, Any]) -> bool | None:
        """Whether encoded rows are those of the fit; None if nothing tells."""
        from hullrank.reports.whose import holds_training_rows

        if self.about.get("rows") not in (None, len(y)):
            return False
        return holds_training_rows(self.step, Z, y, **given)

    @property
    def held_out(self) -> dict[str, Any] | None:
        """The figure on rows left out that was measured by the fit, if the file holds it."""
        kept = self.about.get("held_out")
        kinds = {"figure": str, "rows": int, "mean": float, "low": float, "high": float}
        fits = isinstance(kept, dict) and all(isinstance(kept.get(name), kind) for name, kind in kinds.items())
        return kept if fits else None

    def tell_new_groups(self, groups: Any) -> None:
        """A note about groups that the model has no thresholds for."""
        unseen = [] if groups is None else sorted(set(groups.tolist()) - set(self.step.groups_.tolist()))
        if unseen:
            rows = int(np.isin(groups, unseen).sum())
            names = listed(repr(name) if name else "no group" for name in unseen)
            note(
                f"{rows:,} of {len(groups):,} rows are of groups that the model has not seen ({names}); "
                "their grades are cut at the mean of the thresholds of all groups"
            )


def _may_be_model(path: Path) -> bool:
    """Whether a file begins as model files do, whatever its name."""
    with path.open("rb") as stream:
        return b"header.json" in stream.read(60)


def pair_accuracies(
    step: Any, y: Any, scores: Any, qid: Any, weights: Any, groups: Any | None = None
) -> dict[str, float]:
    """The share of comparable pairs ranked right, of all and within queries if there are any; or within groups."""
    from hullrank.metrics import scoring_order, swapped_pairs, wmw_score

    order = scoring_order(step, y)
    if groups is not None:
        swapped = swapped_pairs(y, scores, qid=groups, sample_weight=weights, classes=total_order(step))
        return {"pair accuracy within groups": 1 - swapped}
    measures = {"pair accuracy": wmw_score(y, scores, order=order, sample_weight=weights)}
    are_numbers = isinstance(order, str)  # "full": they order themselves, also those that the fit has not seen
    if qid is not None and (are_numbers or order.is_total):
        classes = None if are_numbers else total_order(step)
        swapped = swapped_pairs(y, scores, qid=qid, sample_weight=weights, classes=classes)
        measures["pair accuracy within queries"] = 1 - swapped
    return measures


def total_order(step: Any) -> list[Any] | None:
    """The grades from lowest to highest, if the model cuts the score line between them."""
    from hullrank.plots.placement import bounds_of

    bounds = bounds_of(step)
    return bounds["classes"].tolist() if bounds.get("thresholds") is not None else None
