"""What a column of words is taken for, and what is said about it."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from hullrank import ConvexHullRanker
from hullrank.exceptions import ModelFileError, TableError, TableWarning
from hullrank.io import TableEncoder, load, recognise, save
from hullrank.io.forms import is_form, read_cells

NUMBER, COMMA = {"kind": "number", "decimal": "."}, {"kind": "number", "decimal": ","}


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["$1,200.50", "$30"], NUMBER),
        (["1.200,50", "30"], COMMA),
        (["1,200", "30"], NUMBER),
        (["12%", "15%"], NUMBER),
        (["31.12.2024", "1.1.2025"], {"kind": "date", "dates": "dmy"}),
        (["12/31/2024", "1/1/2025"], {"kind": "date", "dates": "mdy"}),
        (["red", "blue"], None),
        (["1", "2", "red", "blue"], None),
        (["A1", "A2"], None),
        (["unknown", "k.A."], None),
        (["none", "x", "nuts", "NC"], None),
        (["+", "-", "+"], None),
        (["true", "false"], None),
    ],
)
def test_kinds(cells, form):
    found = recognise(pl.DataFrame({"c": cells})).forms.get("c")
    assert found == (None if form is None else {**form, "strays": []})


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        (["red", "blue", "-", "-", "unknown"], ["-", "unknown"]),
        (["rot", "K.A. ", "k.A.", "blau"], ["K.A. ", "k.A."]),
        (["+", "-", "?"], ["?"]),
        (["nuts", "none", "n/a"], ["n/a"]),
    ],
)
def test_some_words_say_that_something_is_missing(cells, missing):
    frame = pl.DataFrame({"c": cells})
    found = recognise(frame)
    assert found.forms["c"] == {"kind": "word", "strays": missing}
    taken = sum(cell in missing for cell in cells)
    assert f"{taken} cell{'s are' if taken > 1 else ' is'} taken as missing" in found.notes[-1]
    assert not recognise(frame, words=["c"]).forms
    with pytest.warns(TableWarning, match="taken as missing"):
        encoder = TableEncoder().fit(pl.DataFrame({"c": cells * 2}))
    empty = pl.DataFrame({"c": [None if cell in missing else cell for cell in cells]})
    assert (encoder.transform(frame) == encoder.transform(empty)).all()
    assert encoder.columns_ == [{**TableEncoder().fit(pl.concat([empty] * 2)).columns_[0], "form": found.forms["c"]}]


def test_a_doubtful_column_follows_the_others():
    frame = pl.DataFrame(
        {"a": ["1,234", "5,678"], "b": ["3,14", "2,5"], "c": ["1/2/2024", "3/4/2024"], "d": ["1/31/2024"] * 2}
    )
    found = recognise(frame)
    assert found.forms["a"]["decimal"] == ","
    assert found.forms["c"]["dates"] == "mdy"
    assert not found.notes
    alone = recognise(frame.select("a", "c"))
    assert alone.forms["a"]["decimal"] == "."
    assert alone.forms["c"]["dates"] == "dmy"
    assert len(alone.notes) == 2
    assert recognise(frame.select("a"), usual=",").forms["a"]["decimal"] == ","
    given = recognise(frame, decimal=".", dates="dmy").forms
    assert given["a"]["decimal"] == "."
    assert given["c"]["dates"] == "dmy"


@pytest.mark.parametrize(("strays", "kind"), [(0, "number"), (1, "number"), (10, "number"), (11, None)])
def test_up_to_a_tenth_may_be_strays(strays, kind):
    cells = [f"{i}.5" for i in range(100 - strays)] + [f"odd {i}" for i in range(strays)]
    found = recognise(pl.DataFrame({"c": cells}))
    assert found.forms.get("c", {}).get("kind") == kind
    assert len(found.notes) == (strays > 0)


def test_words_that_say_that_something_is_missing_are_no_strays():
    cells = ["1.5", "2.5", "3.5", "4.5", "unknown", "N.A.", "-", "#DIV/0!"]
    assert recognise(pl.DataFrame({"c": cells})).forms["c"]["kind"] == "number"


def test_a_number_in_a_text_does_not_decide_for_the_table():
    frame = pl.DataFrame({"text": ["3,14", "see above", "no", "yes"], "n": ["1,234", "5,678", "9,012", "3,456"]})
    assert recognise(frame).forms["n"]["decimal"] == "."


def test_columns_that_shall_be_words():
    frame = pl.DataFrame({"c": ["1.5", "2.5"], "d": ["1.5", "2.5"]})
    assert set(recognise(frame, words=["c"]).forms) == {"d"}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.none() | st.text(max_size=12) | st.text("0123456789.,-/:% €$()TZ+", max_size=12), min_size=1, max_size=20
    )
)
def test_any_words_are_read_or_left(cells):
    series = pl.Series("c", cells, dtype=pl.String)
    found = recognise(series.to_frame())
    assert set(found.forms) <= {"c"}
    for form in found.forms.values():
        values = read_cells(series, form)
        assert len(values) == len(series)
        assert values.null_count() >= series.null_count()
        assert is_form(form)


def test_a_format_of_ones_own():
    frame = pl.DataFrame({"c": ["31|12|2020", "1|1|2021"], "d": ["x", "y"]})
    found = recognise(frame, dates="%d|%m|%Y")
    assert found.forms == {"c": {"kind": "date", "dates": "%d|%m|%Y", "strays": []}}
    assert not found.notes
    assert not recognise(frame).forms
    assert recognise(frame, dates="%Q").notes == ["no column has dates of the form '%Q'"]


class TestEncoder:
    FRAME = pl.DataFrame({"price": ["1.200,50 €", "30,00 €", "7,5 €", "unbekannt"] * 5, "x": range(20)})

    def test_forms_are_found_said_and_kept(self):
        with pytest.warns(TableWarning, match=r"'price': 5 cells are no numbers \('unbekannt'\)"):
            encoder = TableEncoder().fit(self.FRAME)
        assert encoder.columns_[0]["form"] == {"kind": "number", "decimal": ",", "strays": ["unbekannt"]}
        numbers = self.FRAME.with_columns(price=pl.Series([1200.5, 30.0, 7.5, None] * 5))
        assert (TableEncoder().fit_transform(numbers) == encoder.transform(self.FRAME)).all()
        assert (encoder.transform(numbers) == encoder.transform(self.FRAME)).all()

    def test_given_forms_are_used_as_they_are(self):
        forms = recognise(self.FRAME, decimal=".").forms
        encoder = clone(TableEncoder(forms=forms)).fit(self.FRAME)
        assert encoder.forms == forms
        assert "price=7,5 €" in encoder.get_feature_names_out()

    def test_a_table_of_another_country_is_read_by_its_own_sign(self, recwarn):
        encoder = TableEncoder(forms=recognise(self.FRAME).forms).fit(self.FRAME)
        american = pl.DataFrame({"price": ["$1,200.50", "$30.00"], "x": [0, 1]})
        assert (encoder.transform(american) == encoder.transform(self.FRAME)[:2]).all()
        assert not recwarn.list

    def test_strays_of_new_tables(self):
        encoder = TableEncoder(forms=recognise(self.FRAME).forms).fit(self.FRAME)
        with pytest.warns(TableWarning, match="'closed' taken as missing"):
            encoder.transform(pl.DataFrame({"price": ["1,5"] * 19 + ["closed"], "x": range(20)}))
        with pytest.raises(TableError, match=r"'price' was numbers.*'closed'"):
            encoder.transform(pl.DataFrame({"price": ["1,5"] * 3 + ["closed"], "x": range(4)}))

    @pytest.mark.parametrize(
        "form", [{}, {"kind": "number", "decimal": ";", "strays": []}, {"kind": "date", "strays": []}, 7]
    )
    def test_model_files_carry_forms_and_refuse_what_is_none(self, tmp_path, form):
        encoder = TableEncoder(forms=recognise(self.FRAME).forms)
        model = make_pipeline(encoder, ConvexHullRanker()).fit(self.FRAME, [0, 1] * 10)
        save(model, tmp_path / "m.hull")
        again = load(tmp_path / "m.hull")
        assert again[0].columns_ == model[0].columns_
        assert (again.score_samples(self.FRAME) == model.score_samples(self.FRAME)).all()
        model[0].columns_[0]["form"] = form
        save(model, tmp_path / "bad.hull")
        with pytest.raises(ModelFileError, match="form of column 'price'"):
            load(tmp_path / "bad.hull")
