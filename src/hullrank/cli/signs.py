"""``--set monotonic_cst={"column": 1}``: signs by the names of the table's columns, for the columns of the model."""

from typing import Any

from hullrank.cli.wording import listed
from hullrank.exceptions import HullrankError
from hullrank.io.meant import did_you_mean


def translate_signs(model: Any, encoder: Any) -> None:
    """Give an unfitted model one sign for every column that a fitted encoder makes, in the place of names."""
    inner = getattr(model, "estimator", model)  # a calibrator has the model inside
    signs = getattr(inner, "monotonic_cst", None)
    if not isinstance(signs, dict):
        return
    if not hasattr(encoder, "columns_"):
        raise HullrankError("monotonic_cst names columns, and SVMlight files have no names; give a list of signs")
    kinds = {column["name"]: column["kind"] for column in encoder.columns_}
    for name in signs:
        if name not in kinds:
            hint = did_you_mean(name, kinds) or f"; it has {listed(kinds)}"
            raise HullrankError(f"monotonic_cst names {name!r}, which is no column of features{hint}")
        if kinds[name] == "word":
            raise HullrankError(
                f"monotonic_cst names {name!r}, whose words become a column of 0 and 1 each: a score does not rise or "
                "fall with words; give signs to columns of numbers, dates, or yes and no"
            )
    numbers = {name for name, kind in kinds.items() if kind == "number"}
    names = encoder.get_feature_names_out().tolist()
    inner.set_params(monotonic_cst=[signs[name] if name in signs and name in numbers else 0 for name in names])
