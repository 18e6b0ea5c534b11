"""Tables and lists of cells as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cellworth.messages import LONGEST_SHOWN
from cellworth.table.write_table import OutColumn

MOST_ROWS = 10
"""Show this many rows; the rest is counted."""
MOST_COLUMNS = 20
"""Show this many columns; the rest is counted."""


def table_html(summary: str, row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> str:
    """Return a table with holes as HTML: the summary, then the first rows and columns; holes are dashes."""
    shown = columns[:MOST_COLUMNS]
    more = [] if len(columns) == len(shown) else [f"... {len(columns) - len(shown)} more"]
    header = [row_id or "", *(out.column.name for out in shown), *more]
    texts = [out.column.texts(out.values[:MOST_ROWS]) for out in shown]
    rows = [
        [name, *(text or "\N{EM DASH}" for text in cells), *("" for _ in more)]
        for name, cells in zip(row_ids[:MOST_ROWS], zip(*texts, strict=True), strict=True)
    ]
    left = len(row_ids) - len(rows)
    return html_table(summary, header, rows, f"... and {left} more rows" if left else "")


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], ending: str = "") -> str:
    """Return lines of text as an HTML table below a title, with a line below it; all text is escaped.

    >>> html_table("Two", ["a"], [["<1>"]])
    '<pre>Two</pre><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_text(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_text(text)}</td>" for text in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<pre>{escape(title)}</pre>{table}" + (f"<p>{escape(ending)}</p>" if ending else "")


def _text(text: str) -> str:
    return escape(text if len(text) <= 3 * LONGEST_SHOWN else text[: 3 * LONGEST_SHOWN] + "...")
