"""One HTML page that needs nothing else: no script, no file, no host.

Texts are escaped here and nowhere else: functions that take texts give HTML, and those that take HTML say so.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256

from cellworth.report.style import STYLE

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
# Neither HTML nor SVG may hold these, nor UTF-8 half a pair of surrogates; marks that turn the direction of
# writing would reach beyond their text.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)


def clean(text: str) -> str:
    r"""Return a text with a mark in the place of each character that a page cannot hold.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return _UNFIT.sub("\ufffd", text)


def escape(text: str) -> str:
    """Return a text as HTML, in an element or an attribute.

    >>> escape('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return html.escape(clean(text))


def page(title: str, parts: Iterable[str], style: str = STYLE) -> str:
    """Return a whole page from its parts, which are HTML.

    It forbids the browser to run or load anything but its own style, named by its digest, and its pictures.
    """
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
    """Return names and what they stand for, as a list."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs)
    return f"<dl>{items}</dl>"


def tiles(items: Iterable[tuple[str, str, str]]) -> str:
    """Return figures to be seen at a glance: what it is, the figure, and a note to it."""
    each = "".join(
        f"<li><span>{escape(what)}</span><b>{escape(figure)}</b><span>{escape(note)}</span></li>"
        for what, figure, note in items
    )
    return f'<ul class="tiles">{each}</ul>'


def picture(content: bytes, kind: str, text: str, caption: str) -> str:
    """Return an image, ``kind`` "svg+xml" or "png", as part of the page.

    ``text`` is for those who cannot see it.
    """
    data = b64encode(content).decode("ascii")
    return (
        f'<figure><img src="data:image/{kind};base64,{data}" alt="{escape(text)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int] = ()
) -> str:
    """Return a table of texts; the first column names the rows, ``texts`` are columns that are no numbers."""
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
    """Return HTML that is shown when its summary is opened."""
    return f"<details><summary>{escape(summary)}</summary>\n" + "\n".join(parts) + "\n</details>"


def _row(row: Sequence[str], left: set[int]) -> str:
    cells = "".join(
        f'<td class="text">{escape(text)}</td>' if k in left else f"<td>{escape(text)}</td>"
        for k, text in enumerate(row[1:], start=1)
    )
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'
