"""Numbers as people write them: decimal commas, thousands separators, currencies, percent, accounting brackets.

A cell is read for a given decimal sign, so that ``1.234`` is 1.234 with a decimal point and 1234 with a decimal comma.
Percent are shares (``12%`` is 0.12, as spreadsheets store them); a currency only says what is counted, and drops out.
"""

import re

import polars as pl

# What may stand between groups of three digits (or two, as in 12,34,567), for each decimal sign.
GROUP_SIGNS: dict[str, tuple[str, ...]] = {
    ".": (",", " ", "'", "’", "_"),
    ",": (".", " ", "'", "’", "_"),
}
# Blanks that are no plain space: no-break, narrow no-break, thin and figure space.
BLANKS = "\u00a0\u202f\u2009\u2007"
MINUS_SIGNS = "\u2212\u2013\ufe63\uff0d"
CURRENCIES = (
    "€", "$", "£", "¥", "₹", "₽", "₺", "₩", "₪", "฿", "₫", "₴", "¢", "US$", "C$", "A$", "R$", "kr.", "kr", "zł", "Kč",
    "Ft", "лв", "EUR", "USD", "GBP", "JPY", "CHF", "CNY", "RMB", "INR", "RUB", "TRY", "KRW", "SEK", "NOK", "DKK", "PLN",
    "CZK", "HUF", "BRL", "CAD", "AUD", "NZD", "MXN", "ZAR", "SGD", "HKD", "Euro", "euro", "Rs.", "Rs", "Fr.", "Fr",
)  # fmt: skip

_CURRENCY = "(?:" + "|".join(re.escape(name) for name in sorted(CURRENCIES, key=len, reverse=True)) + ")"
_PLAIN = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"


def read_numbers(cells: pl.Series, decimal: str) -> pl.Series:
    """The numbers that the cells say with this decimal sign, as floats; missing where a cell says none."""
    text, percent = _amounts(cells)
    group, point = "".join(GROUP_SIGNS[decimal]), re.escape(decimal)
    grouped = rf"^[-+]?[1-9]\d{{0,2}}(?:[{group}]\d{{2,3}})*[{group}]\d{{3}}(?:{point}\d*)?$"
    frame = pl.DataFrame({"text": text, "percent": percent})
    text_ = pl.col("text")
    whole = pl.when(text_.str.contains(grouped)).then(text_.str.replace_all(f"[{group}]", "")).otherwise(text_)
    if decimal == ",":
        whole = (
            pl.when(whole.str.contains(".", literal=True))
            .then(None)
            .otherwise(whole.str.replace(",", ".", literal=True))
        )
    number = pl.when(whole.str.contains(_PLAIN)).then(whole).cast(pl.Float64, strict=False)
    value = pl.when("percent").then(number / 100).otherwise(number)
    return frame.select(value.alias(cells.name)).to_series()


def _amounts(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The cells with one sign in front, without currency, percent and brackets; and whether they were percent."""
    text = cells.str.replace_all(f"[{BLANKS}]", " ").str.replace_all(f"[{MINUS_SIGNS}]", "-").str.strip_chars()
    text = text.str.replace(r"^\((.*\d.*)\)$", "-$1")  # (12.50) is what accountants write for -12.50
    percent = text.str.contains(r"\d\s*%$")
    text = text.str.replace(r"\s*%$", "")
    text = text.str.replace(rf"^([-+]?)\s*{_CURRENCY}\s*([-+]?)\s*([\d.,])", "$1$2$3")
    text = text.str.replace(rf"(\d[.,]?)\s*{_CURRENCY}$", "$1").str.replace(r"(\d)[.,]-{1,2}$", "$1")  # 12.- is 12
    text = text.str.replace(r"^([\d.,' ]*\d)\s*-$", "-$1")  # 12.50- is what some ledgers write for -12.50
    return text.str.replace(r"^([-+])\s+", "$1"), percent


def currencies(cells: pl.Series) -> list[str]:
    """The different currencies that stand beside numbers."""
    found = cells.str.extract(rf"(?:^|[-+\s\d])({_CURRENCY})(?:$|[-+\s\d])", 1).drop_nulls()
    return found.unique().sort().to_list()


def mixes_percent(cells: pl.Series) -> bool:
    """Whether some of the cells are percent and others are not."""
    percent = cells.drop_nulls().str.contains(r"%\s*$")
    return bool(percent.any() and not percent.all())


def decimal_evidence(cells: pl.Series) -> tuple[int, int]:
    """How many cells are numbers with a decimal point only, and how many with a decimal comma only.

    ``3.14`` and ``1,234.5`` are the former, ``3,14`` and ``1.234,5`` the latter; 12 and 1,234 can be both.
    """
    known = cells.drop_nulls().unique()
    point, comma = read_numbers(known, ".").is_not_null(), read_numbers(known, ",").is_not_null()
    return int((point & ~comma).sum()), int((comma & ~point).sum())


def is_ambiguous(cells: pl.Series) -> bool:
    """Whether some cell is a different number for each decimal sign, as 1,234 is."""
    known = cells.drop_nulls().unique()
    return bool((read_numbers(known, ".") != read_numbers(known, ",")).fill_null(False).any())


def has_leading_zeros(cells: pl.Series) -> bool:
    """Whether some whole number begins with a zero, as codes do."""
    return bool(cells.str.contains(r"^\s*0\d+\s*$").any())


def whole_numbers(cells: pl.Series, values: pl.Series) -> pl.Series:
    """The values as integers if every one of them is whole and was written without a decimal sign or percent."""
    known = values.drop_nulls()
    small = (known.abs() < 2**53).all() and (known == known.floor()).all()
    return values.cast(pl.Int64) if small and cells.drop_nulls().str.contains(r"^\s*[-+]?\d+\s*$").all() else values
