"""Pages write files into an empty folder; those about other libraries are tested where these are installed."""

from importlib.util import find_spec

import pytest

_NEEDS = {
    "mord": "mord",
    "skordinal": "skordinal",
    "boosting": "lightgbm",
    "xgboost": "xgboost",
    "statsmodels": "statsmodels",
}
collect_ignore = [f"coming_from/{page}.md" for page, module in _NEEDS.items() if find_spec(module) is None]
collect_ignore += ["_build", "auto_examples"]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
