"""The pages are true: links lead somewhere, every public name is documented, commands run as they stand."""

import importlib
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import hullrank
from hullrank.cli import main

HERE = Path(__file__).parents[1]
PAGES = [*(HERE / "docs").rglob("*.md"), *HERE.glob("*.md"), *(HERE / "examples").iterdir()]
PAGES = sorted(
    page for page in PAGES if page.is_file() and not {"_build", "auto_examples", "generated"} & set(page.parts)
)
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|:target: (\S+)|\{image\} (\S+)|href=\"([^\"]+)\"", re.MULTILINE)
MODULES = ["hullrank", *(f"hullrank.{name}" for name in hullrank._SUBPACKAGES)]
# Building blocks for estimators of one's own, and errors: a sentence each is enough.
PLAIN = ("hullrank.data", "hullrank.exceptions")


def heading_anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def source_of(target):
    """The file that a link leads to: pages of the gallery are made from the examples, HTML pages from Markdown."""
    name = str(target)
    gallery = str(HERE / "docs/auto_examples")
    if name.startswith(gallery):
        rest = Path(name[len(gallery) + 1 :])
        if rest.parent.name == "images":
            stem = re.fullmatch(r"sphx_glr_(plot_.*)_\d{3}\.png", rest.name)[1]
            return HERE / "examples" / f"{stem}.py"
        return HERE / "examples" / ("GALLERY_HEADER.rst" if rest.stem == "index" else f"{rest.stem}.py")
    return target.with_suffix(".md") if target.suffix == ".html" else target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HERE)))
def test_links_between_files_lead_somewhere(page):
    text = page.read_text()
    blocks = re.sub(r"^```(?!\{).*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for found in LINK.finditer(blocks):
        link = next(group for group in found.groups() if group)
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = source_of((page.parent / path).resolve()) if path else page
        assert target.exists(), f"{link} leads to {target}, which does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in heading_anchors(target), f"{link}: {target.name} has no such heading"


def public_names():
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            found = getattr(importlib.import_module(module), name)
            if not inspect.ismodule(found) and not isinstance(found, str):
                yield pytest.param(module, name, found, id=f"{module}.{name}")


@pytest.mark.parametrize(("module", "name", "found"), public_names())
def test_every_public_name_has_parameters_and_an_example(module, name, found):
    """The reference lists them all: what docs/api/index.md leaves out goes to a page of its own."""
    text = inspect.getdoc(found)
    assert text
    if module in PLAIN:
        return
    assert ">>>" in text, f"{name} has no example"
    text += shared_parameters(text)
    missing = [each for each in parameters(found) if not re.search(rf"^ *(\w+, )*{each}\b", text, re.MULTILINE)]
    assert not missing, f"{name} does not say what {missing} are"


def shared_parameters(text):
    """The description of the estimator whose parameters this one has, if it says so."""
    same = re.search(r"arameters and attributes are those of `(\w+)`", text) or re.search(
        r"`(\w+)` as a classifier.*the same parameters", text, re.DOTALL
    )
    return inspect.getdoc(getattr(hullrank, same[1])) if same else ""


def parameters(found):
    if inspect.isclass(found) and found.__init__ is object.__init__:
        return []
    kept = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    signature = inspect.signature(found).parameters.values()
    return [each.name for each in signature if each.kind not in kept and not each.name.startswith("_")]


@pytest.mark.parametrize(("module", "name", "found"), public_names())
def test_every_public_method_says_what_it_does(module, name, found):
    if inspect.isclass(found):
        own = [key for key, value in inspect.getmembers(found, callable) if not key.startswith("_")]
        assert [key for key in own if not inspect.getdoc(getattr(found, key))] == []


def commands(page):
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("hullrank ")]


@pytest.mark.slow
def test_commands_of_the_readme_can_be_copied_as_they_are(tmp_path):
    """In an empty folder, one after the other, each in a process of its own, as a newcomer types them."""
    lines = commands(HERE / "README.md")
    assert len(lines) >= 6
    for line in lines:
        command = [sys.executable, "-c", "from hullrank.cli import main; main()", *shlex.split(line)[1:]]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "ranked.csv").exists()
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_commands_of_the_first_page_can_be_copied_as_they_are(tmp_path, monkeypatch, capsys):
    """In an empty folder, one after the other; in this process, which the README's commands are not."""
    monkeypatch.chdir(tmp_path)
    lines = commands(HERE / "docs/start.md")
    assert len(lines) >= 6
    for line in lines:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, f"{line}\n{capsys.readouterr()}"
    assert (tmp_path / "ranked.csv").exists()
    assert (tmp_path / "report.html").exists()


def test_every_example_of_the_gallery_ends_in_a_picture():
    examples = sorted((HERE / "examples").glob("plot_*.py"))
    assert len(examples) >= 16
    for example in examples:
        text = example.read_text()
        assert re.match(r'"""\n.+\n=+\n', text), f"{example.name} has no title"
        assert "Display." in text or "plt." in text, f"{example.name} draws nothing"


def test_benchmarks_show_what_a_user_waits_for_first():
    text = (HERE / "docs/benchmarks.md").read_text()
    tables = re.findall(r"^\|[^\n]*\bCPU \|.*$", text, re.MULTILINE)
    assert tables
    assert all(head.startswith("| | wall, default threads | of one thread | CPU | ") for head in tables)
    assert "First come wall times with the default number of BLAS threads" in text
