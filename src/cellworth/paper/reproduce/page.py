"""One HTML page that needs nothing else: verdicts, tables and pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from cellworth.paper.reproduce.claims.verdict import FAILS_IF, RULES, Check, Claim, Outcome
from cellworth.paper.reproduce.style import STYLE

_CLASSES = {Outcome.HOLDS: "yes", Outcome.IN_PART: "part", Outcome.FAILS: "no", Outcome.UNTOLD: "untold"}

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
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


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page from its parts, which are HTML."""
    return _TEMPLATE.format(title=escape(title), style=STYLE, body="\n".join(parts))


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


def picture(path: Path, text: str, caption: str) -> str:
    """Return an SVG or PNG file as part of the page; ``text`` is for those who cannot see it."""
    content = b64encode(path.read_bytes()).decode("ascii")
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return (
        f'<figure><img src="data:image/{kind};base64,{content}" alt="{escape(text)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def check_table(checks: Sequence[Check]) -> str:
    """Return the checks with their counts and misses."""
    rows = "".join(
        f"<tr><td>{escape(check.text)}</td>"
        f'<td class="{"yes" if check.passed else "no"}">{"met" if check.passed else "not met"}</td>'
        f"<td>{escape(check.tally)}{_details(check.misses, 'beyond the bound')}</td></tr>"
        for check in checks
    )
    return _text_table(("bound", "", "entries"), rows)


def claim_table(claims: Sequence[Claim]) -> str:
    """Return the claims with their verdicts, counts and all cases."""
    rows = "".join(
        f"<tr><td>{escape(claim.part)}</td><td>{escape(claim.text)}</td>"
        f'<td class="{_CLASSES[claim.outcome]}">{escape(claim.outcome)}</td>'
        f"<td>{escape(claim.tally)}<br><small>{escape(claim.measured)}; {RULES[claim.strength]}</small>"
        f"{_cases(claim)}</td></tr>"
        for claim in claims
    )
    return _text_table(("where", "claim", "verdict", "numbers"), rows)


def rule() -> str:
    """Return the rule of the verdicts in words."""
    return (
        "A case is a difference paired by seed, with the 95 % interval of its mean (Student's t): the whole "
        "interval on the claim's side confirms, the whole interval on the other side contradicts, else the "
        f"case is undecided. The claim {FAILS_IF}."
    )


def _cases(claim: Claim) -> str:
    signs = {1: "confirms", 0: "undecided", -1: "contradicts"}
    notes = [f"{case.note} ({signs[case.sign]})" for case in claim.cases]
    return _details(notes, "all cases")


def _details(notes: Sequence[str], summary: str) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<details><summary>{escape(summary)}</summary><ul>{items}</ul></details>"


def _text_table(header: Sequence[str], rows: str) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    return (
        f'<div class="wide"><table class="words"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
