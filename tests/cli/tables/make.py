"""Makes the tables of this folder: one set of shops, written as programs and people of many countries write it.

Run ``python tests/cli/tables/make.py`` after a change; a test compares the files with what it makes.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

ROWS = 150
GRADES = ("poor", "fair", "good")
FOLDER = Path(__file__).parent


def shops():
    """Turnover, share of regular customers, opening day, region and grade of every shop; grades follow them closely."""
    rng = np.random.default_rng(7)
    turnover = np.round(rng.lognormal(8, 0.8, ROWS), 2)
    share = np.round(rng.uniform(0.02, 0.9, ROWS), 3)
    opened = np.datetime64("2018-01-01") + rng.integers(0, 2000, ROWS)
    region = rng.choice(["north", "south", "west"], ROWS)
    age = (np.datetime64("2024-01-01") - opened).astype(int) / 500
    value = np.log(turnover) + 2 * share + age + (region == "south") + 0.4 * rng.normal(size=ROWS)
    grade = np.array(GRADES)[np.digitize(value, np.quantile(value, [0.35, 0.7]))]
    days = [tuple(str(day).split("-")) for day in opened]
    return [dict(zip(NAMES, row, strict=True)) for row in zip(turnover, share, days, region, grade, strict=True)]


NAMES = ("turnover", "share", "opened", "region", "grade")


def grouped(number, group, decimal, digits=2):
    """A number with its thousands apart."""
    return f"{number:,.{digits}f}".replace(",", "#").replace(".", decimal).replace("#", group)


def text(rows, separator, turnover, share, opened, *, head="", quote=False):
    """A CSV file whose cells are written by the three functions."""
    lines = [separator.join(NAMES)]
    for row in rows:
        cells = [turnover(row["turnover"]), share(row["share"]), opened(*row["opened"]), row["region"], row["grade"]]
        lines.append(separator.join(f'"{cell}"' if quote else cell for cell in cells))
    return (head + "\n".join(lines) + "\n").encode()


def percent(decimal, blank=""):
    return lambda share: grouped(100 * share, "", decimal, 1) + blank + "%"


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def countries(rows):
    """The same shops in many hands."""
    german = (lambda x: grouped(x, ".", ",") + " €", percent(",", " "), lambda y, m, d: f"{d}.{m}.{y}")
    plain = (lambda x: f"{x:.2f}", lambda x: f"{x:.3f}", lambda y, m, d: f"{y}-{m}-{d}")
    comma = (lambda x: f"{x:.2f}".replace(".", ","), lambda x: f"{x:.3f}".replace(".", ","))
    return {
        "clean.csv": text(rows, ",", *plain),
        "padded.csv": text(rows, ", ", *plain),
        "german.csv": text(rows, ";", *german),
        "excel_sep.csv": text(rows, ";", *german, head="sep=;\r\n"),
        "french.csv": text(
            rows, ";", lambda x: grouped(x, "\u202f", ","), percent(",", "\u00a0"), lambda y, m, d: f"{d}/{m}/{y}"
        ),
        "american.csv": text(
            rows, ",", lambda x: "$" + grouped(x, ",", "."), percent("."), lambda y, m, d: f"{m}/{d}/{y}", quote=True
        ),
        "swiss.csv": text(
            rows, ";", lambda x: "CHF " + grouped(x, "'", "."), plain[1], lambda y, m, d: f"{int(d)}.{int(m)}.{y[2:]}"
        ),
        "tabs.tsv": text(rows, "\t", *comma, plain[2]),
        "quoted.csv": text(rows, ",", *comma, plain[2], quote=True),
        "zones.csv": text(rows, ",", *plain[:2], lambda y, m, d: f"{y}-{m}-{d}T02:00:00+02:00"),
        "months.csv": text(rows, "|", *plain[:2], lambda y, m, d: f"{int(d)} {MONTHS[int(m) - 1]} {y}"),
        "array.json": json.dumps(
            [{**r, "turnover": german[0](r["turnover"]), "opened": "-".join(r["opened"])} for r in rows], indent=0
        ).encode(),
        "book.xlsx": workbook(
            [NAMES, *([*list(r.values())[:2], german[2](*r["opened"]), *list(r.values())[3:]] for r in rows)]
        ),
    }


def strays(rows):
    """Numbers with words among them, and what the same table is with empty cells instead."""
    plain = (lambda x: f"{x:.3f}", lambda y, m, d: f"{y}-{m}-{d}")

    def with_cells(cells):
        counter = iter(range(ROWS))
        return text(rows, ",", lambda x: cells.get(next(counter), f"{x:.2f}"), *plain)

    return {
        "unknown.csv": with_cells({70: "unknown"}),
        "words.csv": with_cells({12: "unknown", 70: "closed", 71: "closed", 99: "-"}),
        "words_blank.csv": with_cells({12: "", 70: "", 71: "", 99: ""}),
        "half_words.csv": with_cells({i: f"shop {i % 4}" for i in range(0, ROWS, 3)}),
    }


def doubtful(rows):
    """Cells that can be read in two ways, or in none."""
    turnover, share, opened = plain = (lambda x: f"{x:.2f}", lambda x: f"{x:.3f}", lambda y, m, d: f"{y}-{m}-{d}")

    def either_day(y, m, d):
        return f"{int(d) % 12 + 1:02}/{m}/{y}"

    def either_sign(x):
        return f"{int(x) % 9 + 1},{int(x) % 1000:03}"

    return {
        "either_day.csv": text(rows, ",", turnover, share, either_day),
        "either_sign.csv": text(rows, ";", either_sign, lambda x: str(int(1000 * x)), opened),
        "units.csv": text(rows, ",", lambda x: f"{x:.0f} kg", share, opened),
        "currencies.csv": text(rows, ",", lambda x: ("€" if int(x) % 2 else "$") + f"{x:.2f}", share, opened),
        "half_percent.csv": text(rows, ",", turnover, lambda x: f"{100 * x:.1f}%" if x < 0.5 else share(x), opened),
        "accounts.csv": text(
            rows, ",", lambda x: f"({3000 - x:.2f})" if x < 3000 else f"{x - 3000:.2f}", share, opened
        ),
        "towns.csv": text(
            [{**row, "region": f"town {i % 29 if i % 2 else i % 90}"} for i, row in enumerate(rows)], ",", *plain
        ),
        "formulas.csv": text([{**row, "region": formula(i, row["region"])} for i, row in enumerate(rows)], ";", *plain),
        "signs.csv": text([{**row, "grade": SIGNS[row["grade"]]} for row in rows], "|", *plain),
        "number_target.csv": text(
            [{**row, "grade": f"{GRADES.index(row['grade']) + 1},5"} for row in rows],
            ";",
            lambda x: turnover(x).replace(".", ","),
            lambda x: share(x).replace(".", ","),
            opened,
        ),
        "queries.csv": queries(rows),
    }


SIGNS = {"poor": "< 5", "fair": "5, or 6", "good": 'the "best"'}


def formula(i, region):
    """What a spreadsheet might run, in some rows."""
    return '=HYPERLINK("http://x")' if i % 9 == 0 else "-a" if i % 5 == 0 else region


def queries(rows):
    """Searches of five documents each, with a column qid."""
    lines = ["qid,turnover,share,grade"]
    lines += [f"s{i // 5},{r['turnover']},{r['share']},{GRADES.index(r['grade'])}" for i, r in enumerate(rows)]
    return ("\n".join(lines) + "\n").encode()


def workbook(rows):
    """A spreadsheet of one sheet, as small as Excel and its like accept it."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = (
            f'<c t="inlineStr"><is><t>{value}</t></is></c>' if isinstance(value, str) else f"<c><v>{value}</v></c>"
            for value in row
        )
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    links = "application/vnd.openxmlformats-package.relationships+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        f'"{links}"/><Override PartName="/xl/workbook.xml" ContentType='
        f'"{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="shops" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0" encoding="UTF-8"?>{part}')
    return packed.getvalue()


def tables():
    """All files by name."""
    rows = shops()
    return {**countries(rows), **strays(rows), **doubtful(rows)}


if __name__ == "__main__":
    for name, data in tables().items():
        (FOLDER / name).write_bytes(data)
