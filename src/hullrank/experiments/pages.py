"""Reports as files: Markdown and CSV tables, figures, and one HTML page that holds everything."""

import base64
import csv
import html
import io
from pathlib import Path
from typing import Any

from hullrank.experiments.base import Report, ResultTable
from hullrank.io import replacing

_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;
background:#fff}table{border-collapse:collapse;display:block;overflow-x:auto;font-size:.85rem}
td,th{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}
img{max-width:100%}code{background:#f2f2f2;padding:.1rem .3rem}"""


def write_report(report: Report, out: Path, *, command: str, date: str) -> list[Path]:
    """Write NAME.csv for every table, the figures as PNG, ``report.md`` and ``report.html``; gives their paths."""
    pictures = {name: _png(figure) for name, figure in report.figures.items()}
    files = {f"{name}.png": data for name, data in pictures.items()}
    files |= {f"{table.name}.csv": csv_text(table).encode() for table in report.tables}
    files["report.md"] = markdown_page(report, command, date).encode()
    files["report.html"] = html_page(report, pictures, command, date).encode()
    for name, data in files.items():
        with replacing(out / name) as stream:
            stream.write(data)
    return [out / name for name in files]


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return stream.getvalue()


def csv_text(table: ResultTable) -> str:
    """Comma-separated, with a header row."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([cell.replace("**", "") for cell in row] for row in table.rows)
    return stream.getvalue()


def markdown_table(table: ResultTable) -> str:
    """Title, table and notes; bars inside cells are escaped."""
    lines = [_md_row(table.columns), _md_row(["---"] + ["---:"] * (len(table.columns) - 1))]
    lines += [_md_row(row) for row in table.rows]
    return "\n".join([f"### {table.title}", "", *lines, ""] + [f"{note}\n" for note in table.notes])


def _md_row(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def markdown_page(report: Report, command: str, date: str) -> str:
    """The whole report as Markdown."""
    parts = [f"# {report.title}", "", f"Made by `{command}` on {date}.", ""]
    parts += [f"{paragraph}\n" for paragraph in report.protocol]
    if report.findings:
        parts += ["## Findings", "", *(f"- {finding}" for finding in report.findings), ""]
    parts += ["## Results", ""]
    parts += [markdown_table(table) for table in report.tables]
    parts += [f"![{name}]({name}.png)\n" for name in report.figures]
    return "\n".join(parts)


def html_page(report: Report, pictures: dict[str, bytes], command: str, date: str) -> str:
    """The whole report as one HTML file, pictures included."""
    e = html.escape
    body = [f"<h1>{e(report.title)}</h1>", f"<p>Made by <code>{e(command)}</code> on {e(date)}.</p>"]
    body += [f"<p>{e(paragraph)}</p>" for paragraph in report.protocol]
    body += ["<ul>", *(f"<li>{e(finding)}</li>" for finding in report.findings), "</ul>"] if report.findings else []
    for name, data in pictures.items():
        body.append(f'<img alt="{e(name)}" src="data:image/png;base64,{base64.b64encode(data).decode()}">')
    for table in report.tables:
        head = "".join(f"<th>{e(column)}</th>" for column in table.columns)
        rows = "".join("<tr>" + "".join(f"<td>{_bold(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
        body += [f"<h2>{e(table.title)}</h2>", f"<table><tr>{head}</tr>{rows}</table>"]
        body += [f"<p>{e(note)}</p>" for note in table.notes]
    page = f"<title>{e(report.title)}</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8">{page}'


def _bold(cell: str) -> str:
    text = html.escape(cell)
    if text.count("**") == 2:
        before, inside, after = text.split("**")
        return f"{before}<b>{inside}</b>{after}"
    return text
