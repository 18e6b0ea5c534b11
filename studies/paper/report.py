"""The files of a reproduction: page, figures and tables, all from the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cellworth.report import markup
from studies.completion.report import plot_errors
from studies.paper import claims_on_buying, claims_on_completion, tables
from studies.paper.experiments import Row
from studies.paper.figures import draw_curves
from studies.paper.samples import curves_of
from studies.paper.tables import Grid, to_csv, to_html, to_latex
from studies.paper.verdict import FAILS_IF, RULES, Check, Claim, Outcome
from studies.published import WITHOUT_NOISE, label

MARKS = (
    "± is the standard deviation over seeds. Bold: the best of the paper's methods and those not "
    "significantly worse, by paired t-tests at 95 %. Underlined: the same among all methods, ours included, "
    "which are shaded."
)
BESIDE = " Below a figure stands the paper's and, in brackets, ours minus the paper's."
BANDS = (
    "Means over seeds; bands, from five seeds on, are 95 % intervals, after the curves of each seed were "
    "moved together so that easy and hard splits do not widen them. The paper's methods are drawn through, "
    "ours dashed."
)


_STYLE = (
    markup.STYLE
    + """
:root { --yes: #00704f; --part: #8a5a00; --no: #b03a00; --ours: #eef4fa; }
@media (prefers-color-scheme: dark) { :root { --yes: #4fc9a0; --part: #e5b24a; --no: #ff8f5e;
  --ours: #1a2530; } }
.warning { border-left: 4px solid var(--part); background: var(--shade); padding: 0.7rem 1rem; }
thead th.ours, tbody th.ours, td.ours { background: var(--ours); }
tr.first > * { border-top: 1px solid var(--rule); }
td b { font-weight: 400; } td.best b { font-weight: 700; }
td.top b { text-decoration: underline; text-underline-offset: 3px; }
.paper { color: var(--faint); display: block; font-size: 0.78rem; }
table.words td:first-child { white-space: normal; min-width: 5rem; }
td.yes, td.part, td.no, td.untold { font-weight: 700; white-space: nowrap !important; }
td.yes { color: var(--yes); } td.part { color: var(--part); } td.no { color: var(--no); }
"""
)

_CLASSES = {Outcome.HOLDS: "yes", Outcome.IN_PART: "part", Outcome.FAILS: "no", Outcome.UNTOLD: "untold"}


class Part(NamedTuple):
    """One table or figure of the paper, reproduced."""

    heading: str
    html: list[str]
    files: list[Path]
    claims: list[Claim]
    checks: list[Check]


def _write(grid: Grid, folder: Path) -> list[Path]:
    """Write a table as CSV and LaTeX."""
    paths = [folder / f"{grid.name}.csv", folder / f"{grid.name}.tex"]
    for path, text in zip(paths, (to_csv(grid), to_latex(grid)), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def table1(rows: Sequence[Row], folder: Path) -> Part:
    """Write Table 1 and its figure."""
    errors, accuracies = (tables.table_1(rows, metric) for metric in ("reconstruction_error", "accuracy"))
    grids = [
        Grid("table1-error", "Reconstruction error", errors, 1, 3, 2, "method", "observed"),
        Grid("table1-accuracy", "Accuracy on test rows (%)", accuracies, 100, 1, 1, "method", "observed"),
    ]
    bars = {
        (e.dataset, e.share, e.method): (e.mean, np.nan_to_num(e.sd))  # no deviation with one seed
        for e in errors
        if e.dataset != WITHOUT_NOISE
    }
    picture = folder / "table1.png"
    plot_errors(bars, picture)
    shown = picture_of(picture, "Bars of the errors of all completers", "Reconstruction errors.")
    return Part(
        "Table 1: completion",
        [markup.paragraph(MARKS + BESIDE), *map(to_html, grids), shown],
        [file for grid in grids for file in _write(grid, folder)] + [picture],
        claims_on_completion.claims(rows),
        claims_on_completion.checks(rows, version=lambda name: name != WITHOUT_NOISE)
        + _checks_without_noise(rows),
    )


def _checks_without_noise(rows: Sequence[Row]) -> list[Check]:
    """Return the same checks with HillValley without noise instead of the main version."""
    if not any(row["dataset"] == WITHOUT_NOISE for row in rows):
        return []
    checks = claims_on_completion.checks(rows, version=lambda name: name != "HillValley")
    return [replace(check, text=f"{check.text}, HillValley without noise") for check in checks]


def table2(rows: Sequence[Row], folder: Path) -> Part:
    """Write Table 2."""
    grid = Grid("table2", "AUC on test rows", tables.table_2(rows), 1, 3, 3, "share", "bought")
    return Part(
        "Table 2: AUC while cells are bought",
        [markup.paragraph(MARKS + BESIDE + " EM Inference is not in the paper's Table 2."), to_html(grid)],
        _write(grid, folder),
        claims_on_buying.claims_on_table_2(rows),
        [claims_on_buying.check_on_table_2(rows)],
    )


def figure1(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 1 and its numbers."""
    grid = Grid("figure1", "Accuracy on test rows (%)", tables.figure_1(rows), 100, 1, 1, "share", "bought")
    return _drawn(
        "Figure 1: accuracy while cells are bought", rows, grid, folder, claims_on_buying.claims_on_figure_1
    )


def figure2(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 2 and its numbers."""
    caption = "Accuracy on test rows (%), by share of the price of all missing cells"
    grid = Grid("figure2", caption, tables.figure_2(rows), 100, 2, 2, "share", "money")
    part = _drawn("Figure 2: prices from 1 to 10", rows, grid, folder, claims_on_buying.claims_on_figure_2)
    part.html.insert(1, markup.paragraph(_spent(rows)))
    return part


def _spent(rows: Sequence[Row]) -> str:
    """Return how much of the money each method spent overall: a selector may leave some of its budget."""
    curves = curves_of(rows, "accuracy", "money")
    ends = {
        label(method): float(np.mean([curve.bought[-1] for curve in by_seed.values()]))
        for (_, method), by_seed in curves.items()
    }
    spent = ", ".join(f"{name} {end:.0%}" for name, end in ends.items())
    return f"All had the same budget per round. Spent in the end, of the price of all missing cells: {spent}."


def figure3(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 3 and its numbers."""
    caption = "Accuracy on test rows (%), by share of the missing cells bought"
    grid = Grid("figure3", caption, tables.figure_3(rows), 100, 2, 2, "share", "bought")
    return _drawn(
        "Figure 3: the window of the variance", rows, grid, folder, claims_on_buying.claims_on_figure_3
    )


def _drawn(
    heading: str,
    rows: Sequence[Row],
    grid: Grid,
    folder: Path,
    claims: Callable[[Sequence[Row]], list[Claim]],
) -> Part:
    pictures = [folder / f"{grid.name}.svg", folder / f"{grid.name}.png"]
    draw_curves(rows, "money" if grid.share_of == "money" else "cells", pictures)
    shown = picture_of(pictures[0], f"Curves of {grid.caption.lower()}", BANDS)
    note = "The paper gives this figure as a picture only, so none of its numbers stand here. "
    return Part(
        heading,
        [shown, markup.paragraph(note + MARKS), to_html(grid)],
        [*_write(grid, folder), *pictures],
        claims(rows),
        [],
    )


WRITERS: dict[str, Callable[[Sequence[Row], Path], Part]] = {
    "table1": table1,
    "table2": table2,
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
}
"""Keyed by the name of the part."""


# --- the page ---------------------------------------------------------------------------------------------


def whole_page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page from its parts, which are HTML."""
    return markup.page(title, parts, _STYLE)


def picture_of(path: Path, text: str, caption: str) -> str:
    """Return an SVG or PNG file embedded in the page; ``text`` is the alternative text."""
    return markup.picture(path.read_bytes(), "svg+xml" if path.suffix == ".svg" else "png", text, caption)


def check_table(checks: Sequence[Check]) -> str:
    """Return the checks with their counts and misses."""
    rows = "".join(
        f"<tr><td>{escape(check.text)}</td>"
        f'<td class="{"yes" if check.passed else "no"}">{"met" if check.passed else "not met"}</td>'
        f"<td>{escape(check.counts)}{_details(check.misses, 'beyond the bound')}</td></tr>"
        for check in checks
    )
    return _text_table(("bound", "", "entries"), rows)


def claim_table(claims: Sequence[Claim]) -> str:
    """Return the claims with their verdicts, counts and all cases."""
    rows = "".join(
        f"<tr><td>{escape(claim.part)}</td><td>{escape(claim.text)}</td>"
        f'<td class="{_CLASSES[claim.outcome]}">{escape(claim.outcome)}</td>'
        f"<td>{escape(claim.counts)}<br><small>{escape(claim.measured)}; {RULES[claim.strength]}</small>"
        f"{_cases(claim)}</td></tr>"
        for claim in claims
    )
    return _text_table(("where", "claim", "verdict", "numbers"), rows)


def rule() -> str:
    """Return the rule behind the verdicts, in words."""
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
