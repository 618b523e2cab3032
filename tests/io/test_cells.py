"""Numbers and dates come back from every way they are written in, and nothing else is taken for one."""

from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.io.dates import MONTHS, read_dates
from hullrank.io.numbers import BLANKS, CURRENCIES, GROUP_SIGNS, decimal_evidence, is_ambiguous, read_numbers

NUMBERS = st.decimals(min_value=-(10**9), max_value=10**9, places=2, allow_nan=False)
quick = settings(max_examples=150, deadline=None)


def one(cell, decimal):
    return read_numbers(pl.Series([cell]), decimal)[0]


def written(number, decimal, group):
    return f"{number:,.2f}".replace(",", "#").replace(".", decimal).replace("#", group)


@quick
@given(NUMBERS, st.sampled_from([(d, g) for d in GROUP_SIGNS for g in ("", *GROUP_SIGNS[d], *BLANKS)]))
def test_numbers_come_back_from_every_grouping(number, signs):
    assert one(written(number, *signs), signs[0]) == pytest.approx(float(number), rel=1e-12)


@quick
@given(
    NUMBERS, st.sampled_from(CURRENCIES), st.sampled_from(["{c}{n}", "{c} {n}", "{n}{c}", "{n} {c}", " {n}\u00a0{c} "])
)
def test_currencies_stand_before_or_behind(number, currency, form):
    for decimal, group in ((".", ","), (",", ".")):
        cell = form.format(c=currency, n=written(number, decimal, group))
        assert one(cell, decimal) == pytest.approx(float(number), rel=1e-12)


@pytest.mark.slow
@quick
@given(st.decimals(min_value="0.01", max_value=10**9, places=2, allow_nan=False))
def test_every_minus_is_a_minus(number):
    text = written(number, ".", ",")
    for cell in (
        f"-{text}",
        f"- {text}",
        f"\u2212{text}",
        f"({text})",
        f"{text}-",
        f"-${text}",
        f"$-{text}",
        f"(${text})",
    ):
        assert one(cell, ".") == pytest.approx(-float(number), rel=1e-12), cell


@quick
@given(st.decimals(min_value=-1000, max_value=1000, places=1, allow_nan=False), st.sampled_from(["%", " %", "\u00a0%"]))
def test_percent_are_shares(number, sign):
    assert one(f"{number}{sign}", ".") == pytest.approx(float(number) / 100, rel=1e-12)


@quick
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_programs_write_comes_back(number):
    assert one(repr(number), ".") == pytest.approx(number, rel=1e-15)
    assert one(repr(number).replace(".", ","), ",") == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(
    "cell",
    ["", " ", "-", "%", "$", "abc", "12 kg", "1.2.3", "1,2,3", "12:30", "2024-01-31", "31.12.2024", "e5", "--5", "()",
     "1 2", "A12", "12A", "$ %", "0x12", "inf", "nan", "1,23,4", "1..2", "kr", "5 5 EUR"],
)  # fmt: skip
def test_what_is_no_number(cell):
    assert one(cell, ".") is None
    assert one(cell, ",") is None


@pytest.mark.parametrize(
    ("cells", "evidence", "ambiguous"),
    [
        (["3.14", "12"], (1, 0), False),
        (["3,14", "12"], (0, 1), False),
        (["1.234,5"], (0, 1), False),
        (["1,234.5"], (1, 0), False),
        (["1,234"], (0, 0), True),
        (["0,123"], (0, 1), False),
        (["1,234,567"], (1, 0), False),
        (["12", "word", None], (0, 0), False),
    ],
)
def test_which_decimal_sign_cells_speak_for(cells, evidence, ambiguous):
    series = pl.Series(cells, dtype=pl.String)
    assert decimal_evidence(series) == evidence
    assert is_ambiguous(series) is ambiguous


MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2067, 12, 31)).map(lambda t: t.replace(microsecond=0))
DAYS = {
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%d %B %Y", "%d-%b-%y", "%a, %d %b %Y",
            "%d. %B %Y"],
    "mdy": ["%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%B %d, %Y", "%b %d %Y", "%A, %B %d, %Y"],
    "ymd": ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%y-%m-%d"],
}  # fmt: skip
CLOCKS = [" %H:%M:%S", "T%H:%M:%S", " %I:%M:%S %p", ", %H:%M:%S", " %H:%M:%S.000"]


def when(cell, order):
    return read_dates(pl.Series([cell]), order)[0]


@pytest.mark.slow
@quick
@given(MOMENTS, st.sampled_from([(order, form) for order, forms in DAYS.items() for form in forms]), st.data())
def test_dates_come_back_from_every_form(moment, form, data):
    order, day = form
    assert when(moment.strftime(day), order) == moment.replace(hour=0, minute=0, second=0)
    clock = data.draw(st.sampled_from(CLOCKS))
    assert when(moment.strftime(day + clock), order) == moment


@quick
@given(MOMENTS, st.integers(-12 * 60, 14 * 60), st.sampled_from(["%z", " %z"]))
def test_zones_are_counted_back_to_utc(moment, minutes, form):
    zoned = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert when(zoned.strftime(f"%Y-%m-%dT%H:%M:%S{form}"), "dmy") == moment
    assert when(zoned.isoformat(), "dmy") == moment
    assert when(moment.strftime("%Y-%m-%d %H:%M:%SZ"), "dmy") == moment


def test_months_by_name():
    for number, names in MONTHS.items():
        for name in names.split():
            assert when(f"3 {name} 2024", "dmy") == datetime(2024, int(number), 3), name
            assert when(f"3. {name.title()}. 2024", "dmy") == datetime(2024, int(number), 3), name
    assert when("14 févr. 2024", "dmy") == datetime(2024, 2, 14)
    assert when("1. März 2024", "dmy") == datetime(2024, 3, 1)
    assert when("3 de mayo de 2024", "dmy") == datetime(2024, 5, 3)


@pytest.mark.parametrize(
    "cell",
    ["", "2024", "12.5", "31.13.2024", "30.02.2024", "2024-02-30", "2024-01-01 25:00", "2024-01-01 10:61", "36:30",
     "3 Blah 2024", "1.2.3", "2024-1-1 13:00 PM", "tomorrow", "12/2024/01"],
)  # fmt: skip
def test_what_is_no_date(cell):
    assert when(cell, "dmy") is None


def test_times_without_a_day_are_parts_of_one():
    assert when("18:30", "dmy") == datetime(1970, 1, 1, 18, 30)
    assert when("6:30:15 PM", "dmy") == datetime(1970, 1, 1, 18, 30, 15)


def test_a_format_of_ones_own():
    assert when("31|12|2024", "%d|%m|%Y") == datetime(2024, 12, 31)
    assert when("31|12|2024 7h05", "%d|%m|%Y %Hh%M") == datetime(2024, 12, 31, 7, 5)
    assert when("2024-12-31", "%d|%m|%Y") is None
