"""Pages about other libraries are tested where those are installed, and left out where they are not."""

from importlib.util import find_spec

_NEEDS = {
    "mord": "mord",
    "skordinal": "skordinal",
    "boosting": "lightgbm",
    "xgboost": "xgboost",
    "statsmodels": "statsmodels",
}
collect_ignore = [f"coming_from/{page}.md" for page, module in _NEEDS.items() if find_spec(module) is None]
collect_ignore += ["_build", "auto_examples"]
