"""The files around the library say the same: requirements, versions, Pythons, links."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
HOME = "https://github.com/hullrank/hullrank"
REQUIRED = dict(requirement.split(">=") for requirement in PROJECT["dependencies"])
# What a distribution is called when it is imported, and the distributions that bring others which hullrank imports.
IMPORTED = {"scikit-learn": "sklearn"}
BROUGHT = {"joblib": "scikit-learn", "llvmlite": "numba"}


def pythons_in(text):
    return set(re.findall(r"3\.1\d", text))


def test_pythons_named_are_those_that_ci_runs():
    named = pythons_in(" ".join(PROJECT["classifiers"]))
    workflow = (HERE / ".github/workflows/ci.yml").read_text()
    assert [pythons_in(line) for line in re.findall(r"python: \[.*\]", workflow)] == [named, named]
    assert pythons_in(re.search(r"PYTHONS = .*", (HERE / "noxfile.py").read_text())[0]) == named
    assert PROJECT["requires-python"] == f">={min(named)}"


def test_one_version_everywhere():
    version = PROJECT["version"]
    assert f"\nversion: {version}\n" in (HERE / "CITATION.cff").read_text()
    assert f"\n  version: {version}\n" in (HERE / "conda/recipe.yaml").read_text()
    assert re.search(r"^## (\S+)", (HERE / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def test_the_conda_recipe_requires_the_same():
    run = (HERE / "conda/recipe.yaml").read_text().partition("  run:\n")[2].partition("\ntests:")[0]
    found = dict(re.findall(r"- ([a-z-]+) >=([\d.,!=]+)", run))
    found["matplotlib"] = found.pop("matplotlib-base")
    assert found == REQUIRED


def test_the_table_of_dependencies_is_complete_and_true():
    page = (HERE / "docs/dependencies.md").read_text()
    rows = re.findall(r"^\| ([a-z-]+) \| ([\d.]+) \|", page, re.MULTILINE)
    assert dict(rows) == {name: versions.partition(",")[0] for name, versions in REQUIRED.items()}
    for extra in PROJECT["optional-dependencies"]:
        assert f"| `{extra}` |" in page


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.slow
def test_every_library_that_is_imported_is_required_or_an_extra():
    extras = {re.split(r"[\[>]", name)[0] for names in PROJECT["optional-dependencies"].values() for name in names}
    known = {IMPORTED.get(name, name) for name in {*REQUIRED, *extras, *BROUGHT}} | set(sys.stdlib_module_names)
    found = {name for path in (HERE / "src").rglob("*.py") for name in imports(path)}
    assert found - known - {"hullrank"} == set()
    assert {IMPORTED.get(name, name) for name in REQUIRED} - found == set()


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_are_absolute_and_lead_to_files_that_exist(page):
    """Package indexes show the README away from the repository."""
    text = (HERE / page).read_text()
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)", text, re.MULTILINE)
    assert links
    raw = HOME.replace("github.com", "raw.githubusercontent.com")
    for link in links:
        assert link.startswith("https://")
        path = re.match(rf"(?:{HOME}/(?:blob|tree)|{raw})/main/([^#]*)", link)
        assert path is None or (HERE / path[1]).exists(), link


def test_every_reference_in_the_readme_is_defined_and_used():
    text = (HERE / "README.md").read_text()
    defined = re.findall(r"^\[([^\]]+)\]: ", text, re.MULTILINE)
    for name in defined:
        assert f"][{name}]" in text or re.search(rf"[^\]]\[{name}\][^(\[:]", text), name
    assert set(re.findall(r"\]\[([^\]]+)\]", text)) <= set(defined)


def test_addresses_of_the_project_begin_at_its_home():
    assert PROJECT["urls"]["Homepage"] == HOME
    for address in PROJECT["urls"].values():
        assert address.startswith(HOME)
