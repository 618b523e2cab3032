"""Dates as people write them: 2024-12-31, 31.12.2024, 12/31/2024, 31 Dec 2024, with times and time zones.

The order of day, month and year is ``"dmy"``, ``"mdy"`` or ``"ymd"``; a cell whose year has four digits in front is
``ymd`` whatever the column says. Two digits of a year are 1969 to 2068. A time with a zone is converted to UTC, and a
time without a day is one of the first of January 1970.
"""

import polars as pl

ORDERS = ("dmy", "mdy", "ymd")

# Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch, without accents.
MONTHS: dict[str, str] = {
    "1": "january jan januar janner janvier janv enero ene gennaio gen janeiro januari",
    "2": "february feb februar fevrier fevr fev febrero febbraio fevereiro februari",
    "3": "march mar marz maerz mrz mars marzo marco maart mrt",
    "4": "april apr avril avr abril abr aprile",
    "5": "may mai mayo maggio mag maio mei",
    "6": "june jun juni juin junio giugno giu junho",
    "7": "july jul juli juillet juil julio luglio lug julho",
    "8": "august aug aout agosto ago augustus",
    "9": "september sep sept septembre septiembre settembre set setembro",
    "10": "october oct oktober okt octobre octubre ottobre ott outubro out",
    "11": "november nov novembre noviembre novembro",
    "12": "december dec dezember dez decembre diciembre dic dicembre dezembro",
}
_ACCENTS = {"ä": "a", "é": "e", "è": "e", "û": "u", "ç": "c", "á": "a", "ã": "a"}
_MONTH_NAMES = {name: number for number, names in MONTHS.items() for name in names.split()}

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_CLOCK = rf"{_TIME}(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?P<zone>[Zz]|UTC|GMT|[-+]\d{2}(?::?\d{2})?)"
_REST = rf"(?:(?:[Tt]|,?\s+(?:um\s+|at\s+)?){_CLOCK}(?:\s*{_ZONE})?)?$"
_MONTH, _OF = r"(?P<name>\p{L}{3,10})\.?", r"(?:de\s+)?"
_WEEKDAY = r"^(?:\p{L}{2,9}\.?,?\s+)?"

# Forms of the day, each a pattern with the parts y, m (or the name of the month) and d; the parts a, b and c are placed
# by the order of day, month and year.
FORMS: dict[str, str] = {
    "2024-12-31": r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})",
    "2024-12": r"^(?P<y>\d{4})[-/](?P<m>\d{1,2})",
    "31.12.2024": r"^(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{4}|\d{2})",
    "31 Dec 2024":
        rf"{_WEEKDAY}(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[-\s]*{_OF}{_MONTH}[-,\s]+{_OF}(?P<y>\d{{4}}|\d{{2}})",
    "Dec 31, 2024": rf"{_WEEKDAY}{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})",
    "Dec 2024": rf"^{_MONTH}[-\s]+(?P<y>\d{{4}})",
}  # fmt: skip


def read_dates(cells: pl.Series, order: str) -> pl.Series:
    """The times that the cells say, in microseconds and UTC; missing where a cell says none.

    Parameters
    ----------
    cells : polars.Series of strings
    order : {"dmy", "mdy", "ymd"}, or a format of strftime such as "%d|%m|%Y"
    """
    cells = cells.str.strip_chars().alias("cell")
    if "%" in order:
        return _by_format(cells, order)
    alone = cells.str.contains(f"^{_CLOCK}$").fill_null(False)
    cells = ("1970-01-01 " + cells).zip_with(alone, cells)
    said = pl.Series([None] * len(cells), dtype=pl.Datetime("us"))
    for form in FORMS.values():
        if said.null_count() == cells.null_count():
            break
        if cells.str.contains(form + _REST).any():  # a tenth of the time that reading takes
            said = said.zip_with(said.is_not_null(), _by_form(cells, form, order))
    return said


def _by_format(cells: pl.Series, form: str) -> pl.Series:
    days = cells.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    if not any(part in form for part in ("%H", "%I", "%T", "%R", "%c", "%s")):
        return days
    moments = cells.str.to_datetime(form, strict=False, time_unit="us")
    return moments.dt.replace_time_zone(None) if moments.dtype.time_zone else moments  # type: ignore[attr-defined]


def _by_form(cells: pl.Series, form: str, order: str) -> pl.Series:
    parts = cells.str.extract_groups(form + _REST).struct.unnest()
    named = set(parts.columns)
    if "a" in named:
        parts = parts.rename(dict(zip("abc", order, strict=True)))
    if "name" in named:
        parts = parts.with_columns(m=_month_numbers(parts["name"]))
    if "d" not in parts.columns:
        parts = parts.with_columns(d=pl.lit("1"))
    return parts.select(_moment()).to_series()


def _month_numbers(names: pl.Series) -> pl.Series:
    plain = names.str.to_lowercase().str.replace_many(list(_ACCENTS), list(_ACCENTS.values()))
    return plain.replace_strict(_MONTH_NAMES, default=None, return_dtype=pl.String)


def _moment() -> pl.Expr:
    """Day + time of day - offset of the zone, from the parts of a cell."""
    year = pl.col("y")
    short = year.cast(pl.Int32, strict=False)
    century = pl.when(year.str.len_chars() == 2).then(pl.when(short < 69).then(2000).otherwise(1900)).otherwise(0)
    day = pl.concat_str((short + century).cast(pl.String).str.zfill(4), pl.col("m"), pl.col("d"), separator="-")
    return day.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")) + _time_of_day() - _offset()


def _time_of_day() -> pl.Expr:
    hour, minute, second = (pl.col(part).cast(pl.Int64) for part in ("hour", "minute", "second"))
    half = pl.col("half").str.to_lowercase()
    wrong = (hour > pl.when(half.is_null()).then(23).otherwise(12)) | (minute > 59) | (second > 60)
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + pl.when(half == "p").then(12).otherwise(0))
    fraction = pl.concat_str(pl.lit("0."), pl.col("fraction")).cast(pl.Float64)
    whole = hour * 3600 + minute * 60 + second.fill_null(0)
    length = pl.duration(seconds=whole, microseconds=(fraction.fill_null(0.0) * 1e6).round().cast(pl.Int64))
    none = pl.duration(seconds=0)
    return pl.when(pl.col("hour").is_null()).then(none).when(wrong.fill_null(False)).then(None).otherwise(length)


def _offset() -> pl.Expr:
    hours = pl.col("zone").str.extract(r"^[-+](\d{2})", 1).cast(pl.Int64).fill_null(0)
    minutes = pl.col("zone").str.extract(r"^[-+]\d{2}:?(\d{2})$", 1).cast(pl.Int64).fill_null(0)
    sign = pl.when(pl.col("zone").str.starts_with("-")).then(-1).otherwise(1)
    return pl.duration(minutes=sign * (hours * 60 + minutes))
