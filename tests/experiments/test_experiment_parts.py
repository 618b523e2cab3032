"""Splits, scales, grids, tables and the papers' figures."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from hullrank.datasets.catalogue import CATALOGUE
from hullrank.experiments import exact
from hullrank.experiments.base import Report, ResultTable
from hullrank.experiments.data import BUNDLED, hold_out, load_sheet, standardise
from hullrank.experiments.pages import csv_text, html_page, markdown_table, write_report
from hullrank.experiments.published import EXACT, HULL, PAIRS
from hullrank.experiments.tuning import choose


@given(st.integers(0, 10**6), st.integers(10, 60))
def test_a_hold_out_is_disjoint_and_depends_on_its_trial_only(trial, n):
    train, test = hold_out(n, n // 2, n - n // 2, trial)
    assert sorted([*train, *test]) == list(range(n))
    assert (hold_out(n, n // 2, n - n // 2, trial)[0] == train).all()


def test_scales_come_from_the_training_part_and_its_constant_columns_go():
    rng = np.random.default_rng(0)
    train, test = rng.normal(3, 2, (50, 3)), rng.normal(size=(20, 3))
    train[:, 1] = 7.0
    X, Z = standardise(train, test)
    assert X.shape == (50, 2)
    assert Z.shape == (20, 2)
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)
    np.testing.assert_allclose(Z[:, 0], (test[:, 0] - train[:, 0].mean()) / train[:, 0].std())


def test_nominal_attributes_become_one_hot(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    sexes, sizes = rng.choice(list("MFI"), 12), rng.normal(size=12)
    rows = [f"{s},{x:.3f},{x:.3f},1,1,1,1,1,9" for s, x in zip(sexes, sizes, strict=True)]
    header = "Sex,Length,Diameter,Height,Whole_weight,Shucked_weight,Viscera_weight,Shell_weight,target"
    (tmp_path / "abalone.csv").write_text("\n".join([header, *rows]))
    monkeypatch.setenv("HULLRANK_DATA", str(tmp_path))
    monkeypatch.setattr("hullrank.datasets.loading._check", lambda *_: None)
    load_sheet.cache_clear()
    X = load_sheet("abalone").X
    load_sheet.cache_clear()
    assert X.shape == (12, 3 + 7)
    assert (X[:, :3].sum(axis=1) == 1).all()


def test_the_grid_point_with_the_lowest_loss_wins_and_the_first_of_equals():
    y = np.arange(40.0)

    def fit(point, X, y):
        return lambda Z: Z[:, 0] + point

    def loss(truth, predicted):
        return float(np.abs(truth - predicted).mean())

    assert choose([3, 1, -1, 2], fit, y[:, None], y, loss, folds=4, seed=0) == 1
    seen = []
    choose(
        [0], lambda p, X, y: seen.append(len(y)) or (lambda Z: Z[:, 0]), y[:, None], y, loss, folds=2, seed=0, most=10
    )
    assert seen == [5, 5]


def test_a_grid_point_that_fails_is_not_chosen_but_other_errors_are_not_hidden():
    y = np.arange(40.0)

    def fit(error):
        def one(point, X, y):
            if point == 0 and len(X) % 2:
                raise error
            return lambda Z: Z[:, 0] + point

        return one

    def loss(truth, predicted):
        return float(np.abs(truth - predicted).mean())

    rows = y[:39, None], y[:39]
    assert choose([2, 0, 1], fit(np.linalg.LinAlgError()), *rows, loss, folds=4, seed=0) == 1
    with pytest.raises(ZeroDivisionError):
        choose([2, 0, 1], fit(ZeroDivisionError()), *rows, loss, folds=4, seed=0)


@pytest.mark.parametrize("row", [(name, row) for table in (PAIRS, EXACT) for name, row in table.items()])
def test_published_sizes_are_those_of_the_data(row):
    name, printed = row
    if name not in BUNDLED:
        assert printed.n_train + printed.n_test == CATALOGUE[name].facts.rows


def test_published_sets_are_complete():
    assert (len(PAIRS), len(EXACT), len(HULL)) == (12, 6, 9)
    assert set(HULL) <= set(CATALOGUE)


TABLE = ResultTable("t", "A <title>", ("data | set", "x"), [("a|b", "**1**"), ("<c>", "2")], ("a note",))


def test_tables_survive_bars_brackets_and_bold():
    assert list(csv.reader(io.StringIO(csv_text(TABLE)))) == [["data | set", "x"], ["a|b", "1"], ["<c>", "2"]]
    assert "| a\\|b | **1** |" in markdown_table(TABLE)
    page = html_page(Report("T&T", ("p",), [TABLE], {}, ["f"]), {}, "cmd", "today")
    assert "<td>&lt;c&gt;</td>" in page
    assert "<td><b>1</b></td>" in page
    assert "T&amp;T" in page


def test_a_report_is_a_handful_of_files(tmp_path):
    figure = Figure()
    figure.add_subplot().plot([1, 2])
    files = write_report(Report("T", (), [TABLE], {"f": figure}, []), tmp_path, command="c", date="d")
    assert sorted(path.name for path in files) == ["f.png", "report.html", "report.md", "t.csv"]
    assert "data:image/png;base64," in (tmp_path / "report.html").read_text()
    assert "Made by `c` on d." in (tmp_path / "report.md").read_text()


def test_the_exact_method_is_highest_when_its_mean_is_whatever_the_rounding():
    rng = np.random.default_rng(0)
    for _ in range(200):
        v = rng.random((10, len(exact.METHODS)))
        v[:, -1] = v.max(axis=1)
        assert "highest on 1 of 1" in exact._findings({"train": {"iris": v}, "test": {"iris": v}})[0]
