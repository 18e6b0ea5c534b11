"""The files of a reproduction: page, pictures and tables, from the rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cellworth.paper.completion.plots import plot_errors
from cellworth.paper.completion.table1 import WITHOUT_NOISE
from cellworth.paper.reproduce import entries, page
from cellworth.paper.reproduce.claims import buying, completion, spending
from cellworth.paper.reproduce.claims.verdict import Check, Claim
from cellworth.paper.reproduce.experiment import Row
from cellworth.paper.reproduce.figures import draw_curves
from cellworth.paper.reproduce.grid import Grid, to_csv, to_html, to_latex
from cellworth.paper.reproduce.names import label
from cellworth.paper.reproduce.samples import curves_of

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


class Part(NamedTuple):
    """One table or figure of the paper, done again."""

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
    """Write Table 1 and its picture."""
    errors, accuracies = (entries.table_1(rows, metric) for metric in ("reconstruction_error", "accuracy"))
    grids = [
        Grid("table1-error", "Reconstruction error", errors, 1, 3, 2, "method", "observed"),
        Grid("table1-accuracy", "Accuracy on test rows (%)", accuracies, 100, 1, 1, "method", "observed"),
    ]
    bars = {
        (e.dataset, e.share, e.method): (e.mean, np.nan_to_num(e.sd))  # one seed has no deviation
        for e in errors
        if e.dataset != WITHOUT_NOISE
    }
    picture = folder / "table1.png"
    plot_errors(bars, picture)
    shown = page.picture(picture, "Bars of the errors of all completers", "Reconstruction errors.")
    return Part(
        "Table 1: completion",
        [page.paragraph(MARKS + BESIDE), *map(to_html, grids), shown],
        [file for grid in grids for file in _write(grid, folder)] + [picture],
        completion.claims(rows),
        completion.checks(rows, version=lambda name: name != WITHOUT_NOISE) + _checks_without_noise(rows),
    )


def _checks_without_noise(rows: Sequence[Row]) -> list[Check]:
    """Return the same checks with the other version of HillValley in the place of the main one."""
    if not any(row["dataset"] == WITHOUT_NOISE for row in rows):
        return []
    checks = completion.checks(rows, version=lambda name: name != "HillValley")
    return [replace(check, text=f"{check.text}, HillValley without noise") for check in checks]


def table2(rows: Sequence[Row], folder: Path) -> Part:
    """Write Table 2."""
    grid = Grid("table2", "AUC on test rows", entries.table_2(rows), 1, 3, 3, "share", "bought")
    return Part(
        "Table 2: AUC while cells are bought",
        [page.paragraph(MARKS + BESIDE + " EM Inference is not in the paper's Table 2."), to_html(grid)],
        _write(grid, folder),
        buying.claims_on_table_2(rows),
        [buying.check_on_table_2(rows)],
    )


def figure1(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 1 and its figures."""
    grid = Grid("figure1", "Accuracy on test rows (%)", entries.figure_1(rows), 100, 1, 1, "share", "bought")
    return _drawn("Figure 1: accuracy while cells are bought", rows, grid, folder, buying.claims_on_figure_1)


def figure2(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 2 and its figures."""
    caption = "Accuracy on test rows (%), by share of the price of all missing cells"
    grid = Grid("figure2", caption, entries.figure_2(rows), 100, 2, 2, "share", "money")
    part = _drawn("Figure 2: prices from 1 to 10", rows, grid, folder, spending.claims_on_figure_2)
    part.html.insert(1, page.paragraph(_spent(rows)))
    return part


def _spent(rows: Sequence[Row]) -> str:
    """Return how much of the money each method spent in the end: a selector may leave some of its budget."""
    curves = curves_of(rows, "accuracy", "money")
    ends = {
        label(method): float(np.mean([curve.bought[-1] for curve in by_seed.values()]))
        for (_, method), by_seed in curves.items()
    }
    spent = ", ".join(f"{name} {end:.0%}" for name, end in ends.items())
    return f"All had the same budget per round. Spent in the end, of the price of all missing cells: {spent}."


def figure3(rows: Sequence[Row], folder: Path) -> Part:
    """Write Figure 3 and its figures."""
    caption = "Accuracy on test rows (%), by share of the missing cells bought"
    grid = Grid("figure3", caption, entries.figure_3(rows), 100, 2, 2, "share", "bought")
    return _drawn("Figure 3: the window of the variance", rows, grid, folder, spending.claims_on_figure_3)


def _drawn(
    heading: str,
    rows: Sequence[Row],
    grid: Grid,
    folder: Path,
    claims: Callable[[Sequence[Row]], list[Claim]],
) -> Part:
    pictures = [folder / f"{grid.name}.svg", folder / f"{grid.name}.png"]
    draw_curves(rows, "money" if grid.share_of == "money" else "cells", pictures)
    shown = page.picture(pictures[0], f"Curves of {grid.caption.lower()}", BANDS)
    note = "The paper gives this figure as a picture only, so none of its numbers stand here. "
    return Part(
        heading,
        [shown, page.paragraph(note + MARKS), to_html(grid)],
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
"""By the name of the part."""
