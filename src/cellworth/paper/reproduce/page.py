"""The pieces of the paper's page: verdicts and pictures; the rest is that of every page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from cellworth.paper.reproduce.claims.verdict import FAILS_IF, RULES, Check, Claim, Outcome
from cellworth.paper.reproduce.style import STYLE
from cellworth.report import page as any_page
from cellworth.report.page import facts, paragraph, section

__all__ = ["check_table", "claim_table", "facts", "page", "paragraph", "picture", "rule", "section"]

_CLASSES = {Outcome.HOLDS: "yes", Outcome.IN_PART: "part", Outcome.FAILS: "no", Outcome.UNTOLD: "untold"}


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page from its parts, which are HTML."""
    return any_page.page(title, parts, STYLE)


def picture(path: Path, text: str, caption: str) -> str:
    """Return an SVG or PNG file as part of the page; ``text`` is for those who cannot see it."""
    return any_page.picture(path.read_bytes(), "svg+xml" if path.suffix == ".svg" else "png", text, caption)


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
