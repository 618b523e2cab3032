"""Numbers and dates come back from every way they are written in, and nothing else is taken for one."""

from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.io.dates import MONTHS, read_dates
from hullrank.io.numbers import BLANKS, CURRENCIES, GROUP_SIGNS, decimal_evidence, is_ambiguous, read_numbers

law = settings(max_examples=50)


def columns(cells):
    """Some cells, which are read as one column."""
    return st.lists(cells, min_size=3, max_size=5)


NUMBERS = columns(st.decimals(min_value=-(10**9), max_value=10**9, places=2, allow_nan=False))


def read(cells, decimal):
    return read_numbers(pl.Series(cells, dtype=pl.String), decimal).to_list()


def numbers_of(values):
    return pytest.approx(list(map(float, values)), rel=1e-12)


def written(number, decimal, group):
    return f"{number:,.2f}".replace(",", "#").replace(".", decimal).replace("#", group)


@law
@given(NUMBERS, st.sampled_from([(d, g) for d in GROUP_SIGNS for g in ("", *GROUP_SIGNS[d], *BLANKS)]))
def test_numbers_come_back_from_every_grouping(numbers, signs):
    assert read([written(number, *signs) for number in numbers], signs[0]) == numbers_of(numbers)


@law
@given(
    NUMBERS, st.sampled_from(CURRENCIES), st.sampled_from(["{c}{n}", "{c} {n}", "{n}{c}", "{n} {c}", " {n}\u00a0{c} "])
)
def test_currencies_stand_before_or_behind(numbers, currency, form):
    for decimal, group in ((".", ","), (",", ".")):
        cells = [form.format(c=currency, n=written(number, decimal, group)) for number in numbers]
        assert read(cells, decimal) == numbers_of(numbers)


MINUS = ["-{}", "- {}", "\u2212{}", "({})", "{}-", "-${}", "$-{}", "(${})"]


@law
@given(columns(st.decimals(min_value="0.01", max_value=10**9, places=2, allow_nan=False)))
def test_every_minus_is_a_minus(numbers):
    cells = [form.format(written(number, ".", ",")) for number in numbers for form in MINUS]
    assert read(cells, ".") == numbers_of(-number for number in numbers for _ in MINUS)


@law
@given(
    columns(st.decimals(min_value=-1000, max_value=1000, places=1, allow_nan=False)),
    st.sampled_from(["%", " %", "\u00a0%"]),
)
def test_percent_are_shares(numbers, sign):
    assert read([f"{number}{sign}" for number in numbers], ".") == numbers_of(number / 100 for number in numbers)


@law
@given(columns(st.floats(allow_nan=False, allow_infinity=False)))
def test_what_programs_write_comes_back(numbers):
    cells = list(map(repr, numbers))
    assert read(cells, ".") == pytest.approx(numbers, rel=1e-15)
    assert read([cell.replace(".", ",") for cell in cells], ",") == pytest.approx(numbers, rel=1e-15)


NO_NUMBERS = [
    "", " ", "-", "%", "$", "abc", "12 kg", "1.2.3", "1,2,3", "12:30", "2024-01-31", "31.12.2024", "e5", "--5", "()",
    "1 2", "A12", "12A", "$ %", "0x12", "inf", "nan", "1,23,4", "1..2", "kr", "5 5 EUR",
]  # fmt: skip


@pytest.mark.parametrize("decimal", [".", ","])
def test_what_is_no_number(decimal):
    read_as = dict(zip(NO_NUMBERS, read(NO_NUMBERS, decimal), strict=True))
    assert read_as == dict.fromkeys(NO_NUMBERS)


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


MOMENTS = columns(st.datetimes(datetime(1970, 1, 1), datetime(2067, 12, 31)).map(lambda t: t.replace(microsecond=0)))
DAYS = {
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%d %B %Y", "%d-%b-%y", "%a, %d %b %Y",
            "%d. %B %Y"],
    "mdy": ["%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%B %d, %Y", "%b %d %Y", "%A, %B %d, %Y"],
    "ymd": ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%y-%m-%d"],
}  # fmt: skip
CLOCKS = [" %H:%M:%S", "T%H:%M:%S", " %I:%M:%S %p", ", %H:%M:%S", " %H:%M:%S.000"]


def when_all(cells, order):
    return read_dates(pl.Series(cells, dtype=pl.String), order).to_list()


def when(cell, order):
    return when_all([cell], order)[0]


@law
@given(
    MOMENTS,
    st.sampled_from([(order, form) for order, forms in DAYS.items() for form in forms]),
    st.sampled_from(CLOCKS),
)
def test_dates_come_back_from_every_form(moments, form, clock):
    order, day = form
    days = [moment.replace(hour=0, minute=0, second=0) for moment in moments]
    assert when_all([moment.strftime(day) for moment in moments], order) == days
    assert when_all([moment.strftime(day + clock) for moment in moments], order) == moments


@law
@given(MOMENTS, st.integers(-12 * 60, 14 * 60), st.sampled_from(["%z", " %z"]))
def test_zones_are_counted_back_to_utc(moments, minutes, form):
    zone = timezone(timedelta(minutes=minutes))
    zoned = [moment.replace(tzinfo=UTC).astimezone(zone) for moment in moments]
    assert when_all([moment.strftime(f"%Y-%m-%dT%H:%M:%S{form}") for moment in zoned], "dmy") == moments
    assert when_all([moment.isoformat() for moment in zoned], "dmy") == moments
    assert when_all([moment.strftime("%Y-%m-%d %H:%M:%SZ") for moment in moments], "dmy") == moments


def test_months_by_name():
    expected = {}
    for number, names in MONTHS.items():
        for name in names.split():
            expected |= dict.fromkeys((f"3 {name} 2024", f"3. {name.title()}. 2024"), datetime(2024, int(number), 3))
    assert dict(zip(expected, when_all(list(expected), "dmy"), strict=True)) == expected
    assert when("14 févr. 2024", "dmy") == datetime(2024, 2, 14)
    assert when("1. März 2024", "dmy") == datetime(2024, 3, 1)
    assert when("3 de mayo de 2024", "dmy") == datetime(2024, 5, 3)


NO_DATES = [
    "", "2024", "12.5", "31.13.2024", "30.02.2024", "2024-02-30", "2024-01-01 25:00", "2024-01-01 10:61", "36:30",
    "3 Blah 2024", "1.2.3", "2024-1-1 13:00 PM", "tomorrow", "12/2024/01",
]  # fmt: skip


def test_what_is_no_date():
    assert dict(zip(NO_DATES, when_all(NO_DATES, "dmy"), strict=True)) == dict.fromkeys(NO_DATES)


def test_times_without_a_day_are_parts_of_one():
    assert when("18:30", "dmy") == datetime(1970, 1, 1, 18, 30)
    assert when("6:30:15 PM", "dmy") == datetime(1970, 1, 1, 18, 30, 15)


def test_a_format_of_ones_own():
    assert when("31|12|2024", "%d|%m|%Y") == datetime(2024, 12, 31)
    assert when("31|12|2024 7h05", "%d|%m|%Y %Hh%M") == datetime(2024, 12, 31, 7, 5)
    assert when("2024-12-31", "%d|%m|%Y") is None
