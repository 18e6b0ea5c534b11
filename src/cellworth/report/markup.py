"""Self-contained HTML pages: no scripts, no other files, no server.

All escaping happens here: functions take plain text and return HTML; those that take HTML say so.
"""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256

from cellworth.report.summaries import clean

STYLE = """
:root { --ink: #1b1f24; --faint: #5b6570; --ground: #fdfdfc; --rule: #d9dee3; --shade: #f1f4f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --faint: #9aa4ae; --ground: #15181b;
  --rule: #343b42; --shade: #1e2327; }
  figure img { filter: invert(0.9) hue-rotate(180deg); } }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2.6rem; border-bottom: 1px solid var(--rule); padding-bottom: 0.3rem; }
p, dl { max-width: 48rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.2rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
/* A wide table scrolls: a shadow lies on each end behind which there is more. */
.wide { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(90deg, var(--ground) 50%, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(270deg, var(--ground) 50%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(90deg, var(--rule), transparent) left / 1.2rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--rule), transparent) right / 1.2rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.5rem; }
th, td { padding: 0.3rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; text-align: left; } thead th { border-bottom: 2px solid var(--rule);
  white-space: normal; vertical-align: bottom; }
small { color: var(--faint); }
table.words td { text-align: left; white-space: normal; border-top: 1px solid var(--rule); }
details { margin-top: 0.2rem; } summary { cursor: pointer; color: var(--faint); }
ul { margin: 0.3rem 0; padding-left: 1.1rem; }
figure { margin: 1rem 0; } figure img { width: 100%; height: auto; max-width: 64rem; }
figcaption { color: var(--faint); font-size: 0.86rem; max-width: 48rem; }
"""
"""Styles shared by all pages."""

CAMPAIGN = """
h2 + p, h2 + p + p { color: var(--faint); }
ul.tiles { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: 0.8rem; padding: 0; margin: 1.2rem 0; }
ul.tiles li { background: var(--shade); border-radius: 6px; padding: 0.7rem 0.9rem; }
ul.tiles b { display: block; font-size: 1.45rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
ul.tiles span { color: var(--faint); font-size: 0.86rem; }
figure img { max-width: 44rem; }
td, th { unicode-bidi: isolate; } tbody th { font-weight: 400; }
tbody tr > * { border-top: 1px solid var(--rule); }
td.text, tbody th { white-space: normal; overflow-wrap: anywhere; min-width: 7em; max-width: 22em; }
td.text { text-align: left; } thead th.number { text-align: right; }
@media (max-width: 30rem) { main { padding: 1rem 0.8rem 3rem; } h1 { font-size: 1.4rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.4rem; }
  th, td { padding: 0.25rem 0.45rem; } ul.tiles { grid-template-columns: 1fr 1fr; } }
"""
"""Additional styles for the campaign report."""

PRINT = """
@page { margin: 14mm 12mm; }
@media print {
  :root { --ink: #000; --faint: #444; --ground: #fff; --rule: #bbb; --shade: #f1f4f6; color-scheme: light; }
  body { font-size: 10pt; line-height: 1.4; } main { max-width: none; padding: 0; } p, dl { max-width: none; }
  h1, h2, h2 + p, summary, caption, thead { break-after: avoid; }
  h2 { margin-top: 1.6rem; }
  p, figure, tr, ul.tiles li, ul.tiles { break-inside: avoid; }
  figure img { filter: none; max-width: 150mm; max-height: 190mm; object-fit: contain;
    object-position: left; }
  .wide { overflow: visible; background: none; } thead { display: table-header-group; }
  table { width: 100%; font-size: 8pt; }
  th, td { white-space: normal; padding: 0.15rem 0.35rem; } td.text, tbody th { overflow-wrap: anywhere;
    min-width: 4.8em; }
  ul.tiles { grid-template-columns: repeat(4, 1fr); } ul.tiles b { font-size: 1.2rem; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  summary { list-style: none; }
}
"""
"""On paper nothing scrolls or folds: tables wrap, details are open, headings stay with their text."""

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def escape(text: str) -> str:
    """Escape text for an HTML element or attribute.

    >>> escape('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return html.escape(clean(text))


def page(title: str, parts: Iterable[str], style: str = STYLE) -> str:
    """Return a whole page from its parts, which are HTML.

    Its policy forbids the browser to run or load anything but the page's own style, by digest, and images.
    """
    style += PRINT
    digest = b64encode(sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    return _TEMPLATE.format(policy=policy, title=escape(title), style=style, body="\n".join(parts))


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def section(heading: str, parts: Iterable[str]) -> str:
    """Return a section with its heading; the parts are HTML."""
    return f"<section>\n<h2>{escape(heading)}</h2>\n" + "\n".join(parts) + "\n</section>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return name and value pairs as a description list."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs)
    return f"<dl>{items}</dl>"


def tiles(items: Iterable[tuple[str, str, str]]) -> str:
    """Return key figures as tiles, each with a label, a figure and a note."""
    each = "".join(
        f"<li><span>{escape(what)}</span><b>{escape(figure)}</b><span>{escape(note)}</span></li>"
        for what, figure, note in items
    )
    return f'<ul class="tiles">{each}</ul>'


def picture(content: bytes, kind: str, text: str, caption: str) -> str:
    """Return an image, of ``kind`` "svg+xml" or "png", embedded in the page.

    ``text`` is the alternative text.
    """
    data = b64encode(content).decode("ascii")
    return (
        f'<figure><img src="data:image/{kind};base64,{data}" alt="{escape(text)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int] = ()
) -> str:
    """Return a table; the first column is the row header, and ``texts`` are the other non-numeric columns."""
    left = {0, *texts}
    kinds = ["" if k in left else ' class="number"' for k in range(len(header))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True)
    )
    body = "\n".join(_row(row, left) for row in rows)
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def folded(summary: str, parts: Iterable[str]) -> str:
    """Return HTML that is hidden until its summary is opened."""
    return f"<details><summary>{escape(summary)}</summary>\n" + "\n".join(parts) + "\n</details>"


def _row(row: Sequence[str], left: set[int]) -> str:
    cells = "".join(
        f'<td class="text">{escape(text)}</td>' if k in left else f"<td>{escape(text)}</td>"
        for k, text in enumerate(row[1:], start=1)
    )
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'
