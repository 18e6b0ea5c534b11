"""The tables of a reproduction: our entries next to the paper's, written as CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

from studies.paper.experiments import (
    CELL_SHARES,
    CURVES_OF_PAPER,
    MONEY_SHARES,
    PRICES_OF_PAPER,
    WINDOWS_OF_PAPER,
    Row,
)
from studies.paper.samples import (
    Metric,
    Samples,
    at_share,
    best,
    curves_of,
    grouped,
    mean_and_sd,
    negated,
    reached,
)
from studies.published import METHODS, OURS, SHARES, TABLE_1, TABLE_2, dataset_label, label


class Entry(NamedTuple):
    """One figure of one table.

    Attributes
    ----------
    dataset, method : str
    share : float
        Share observed (Table 1), bought (Table 2, Figures 1 and 3) or of the money (Figure 2).
    mean, sd : float
        Over the seeds.
    paper, paper_sd : float or None
    best : bool
        Whether it is the best of the paper's methods or not significantly worse.
    best_of_all : bool
        The same among all methods, including ours.
    """

    dataset: str
    share: float
    method: str
    mean: float
    sd: float
    paper: float | None
    paper_sd: float | None
    best: bool
    best_of_all: bool

    @property
    def off(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.mean - self.paper


Pair = tuple[float | None, float | None]


def table_1(rows: Sequence[Row], metric: Metric) -> list[Entry]:
    """Return the entries of one half of Table 1: reconstruction errors, or accuracies as shares."""
    out = []
    for (dataset, share), samples in grouped(rows, metric).items():
        figures = {method: TABLE_1[dataset, share, method] for method in METHODS}
        published: dict[str, Pair] = {
            method: (figure.error, figure.error_sd)
            if metric == "reconstruction_error"
            else (figure.accuracy, figure.accuracy_sd)
            for method, figure in figures.items()
        }
        high_is_good = negated(samples) if metric == "reconstruction_error" else samples
        out += _entries(dataset, share, samples, high_is_good, METHODS, published)
    return out


def table_2(rows: Sequence[Row]) -> list[Entry]:
    """Return the entries of Table 2; EM Inference is shown, but not counted among the paper's methods."""
    return _bought(rows, "auc", CURVES_OF_PAPER[:4], SHARES, with_paper=True)


def figure_1(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 1 at the shares of Table 2."""
    return _bought(rows, "accuracy", CURVES_OF_PAPER, SHARES)


def figure_2(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 2 at shares of the money."""
    return _bought(rows, "accuracy", PRICES_OF_PAPER, MONEY_SHARES, unit="money")


def figure_3(rows: Sequence[Row]) -> list[Entry]:
    """Return the accuracies of Figure 3 at shares of the missing cells."""
    return _bought(rows, "accuracy", WINDOWS_OF_PAPER, CELL_SHARES)


def _bought(
    rows: Sequence[Row],
    metric: Metric,
    of_paper: Sequence[str],
    shares: Sequence[float],
    *,
    unit: str = "cells",
    with_paper: bool = False,
) -> list[Entry]:
    curves = curves_of(rows, metric, "money" if unit == "money" else "cells")
    out = []
    for dataset in dict.fromkeys(key[0] for key in curves):
        of_dataset = {method: by_seed for (name, method), by_seed in curves.items() if name == dataset}
        for share in shares:
            # A strategy that never spends this much has no entry: curves are not extrapolated.
            samples = {m: at_share(c, share) for m, c in of_dataset.items() if reached([share], c)}
            published = {m: TABLE_2[dataset, m, share][:2] for m in (of_paper if with_paper else ())}
            out += _entries(dataset, share, samples, samples, of_paper, published)
    return out


def _entries(
    dataset: str,
    share: float,
    samples: Mapping[str, Samples],
    high_is_good: Mapping[str, Samples],
    of_paper: Sequence[str],
    published: Mapping[str, Pair],
) -> list[Entry]:
    bold = best({method: high_is_good[method] for method in of_paper if method in high_is_good})
    bold_of_all = best(high_is_good)
    out = []
    for method, values in samples.items():
        (mean, sd), (paper, paper_sd) = mean_and_sd(values), published.get(method, (None, None))
        out.append(
            Entry(dataset, share, method, mean, sd, paper, paper_sd, method in bold, method in bold_of_all)
        )
    return out


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
} | {sign: "\\" + sign for sign in "&%$#_{}"}


@dataclass(frozen=True)
class Grid:
    """A table to write.

    Attributes
    ----------
    name : str
        Name of its files.
    caption : str
        What the figures are, with their unit.
    entries : list of Entry
    unit : float
        Factor for the figures: 100 for percent.
    digits, paper_digits : int
        Decimal places of our figures and of the paper's.
    across : {"method", "share"}
        What the columns are; the rows of a data set are the other.
    share_of : str
        What a share is a share of, such as "observed".
    """

    name: str
    caption: str
    entries: list[Entry]
    unit: float
    digits: int
    paper_digits: int
    across: Literal["method", "share"]
    share_of: str

    @property
    def columns(self) -> list[str | float]:
        """The methods or shares of the columns."""
        return list(dict.fromkeys(self._places(e)[1] for e in self.entries))

    @property
    def lines(self) -> dict[tuple[str, str | float], dict[str | float, Entry]]:
        """The entries by data set and row, then by column."""
        out: dict[tuple[str, str | float], dict[str | float, Entry]] = {}
        for entry in self.entries:
            down, across = self._places(entry)
            out.setdefault((entry.dataset, down), {})[across] = entry
        order = {
            dataset: place for place, dataset in enumerate(dict.fromkeys(e.dataset for e in self.entries))
        }
        return dict(sorted(out.items(), key=lambda item: order[item[0][0]]))

    def _places(self, entry: Entry) -> tuple[str | float, str | float]:
        pair = (entry.share, entry.method)
        return pair if self.across == "method" else (pair[1], pair[0])

    def name_of(self, key: str | float) -> str:
        """Return the label of a method or share."""
        return label(key) if isinstance(key, str) else f"{key:.0%}"

    @property
    def corner(self) -> str:
        """The header of the column before the figures."""
        return self.share_of if self.across == "method" else "method"

    def paper_figure(self, value: float) -> str:
        """Format a figure of the paper with as many digits as the paper gives."""
        return f"{self.unit * value:.{self.paper_digits}f}"

    def figure(self, value: float, *, sign: bool = False) -> str:
        """Format a figure in the table's unit; "?" if NaN, as is a deviation over one seed."""
        if math.isnan(value):
            return "?"
        rounded = round(self.unit * value, self.digits) + 0.0  # no negative zero
        return f"{rounded:{'+' if sign else ''}.{self.digits}f}"


def to_csv(grid: Grid) -> str:
    """Return a line per entry, figures as shares; empty where the paper has none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*Entry._fields, "off", "ours"))
    for entry in grid.entries:
        numbers = ["" if v is None else f"{v:.6f}" for v in (*entry[3:7], entry.off)]
        flags = [str(flag).lower() for flag in (entry.best, entry.best_of_all, entry.method in OURS)]
        writer.writerow((*entry[:3], *numbers[:4], *flags[:2], numbers[4], flags[2]))
    return out.getvalue()


def escape_latex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(grid: Grid) -> str:
    """Return a tabular that needs no packages, with the paper's figures in brackets."""
    head = [escape_latex(text) for text in ("data", grid.corner, *map(grid.name_of, grid.columns))]
    body, last = [], ""
    for (dataset, down), cells in grid.lines.items():
        if dataset != last:
            body.append(r"\hline")
        name = escape_latex(dataset_label(dataset)) if dataset != last else ""
        figures = [_latex_cell(grid, cells.get(column)) for column in grid.columns]
        body.append(" & ".join([name, escape_latex(grid.name_of(down)), *figures]) + r" \\")
        last = dataset
    return "\n".join(
        [
            f"% {grid.caption}",
            rf"\begin{{tabular}}{{ll{'r' * len(grid.columns)}}}",
            r"\hline",
            " & ".join(head) + r" \\",
            *body,
            r"\hline",
            r"\end{tabular}",
            "",
        ]
    )


def _latex_cell(grid: Grid, entry: Entry | None) -> str:
    if entry is None:
        return ""
    text = rf"{grid.figure(entry.mean)}$\pm${grid.figure(entry.sd)}"
    text = rf"\textbf{{{text}}}" if entry.best else text
    text = rf"\underline{{{text}}}" if entry.best_of_all else text
    return text if entry.paper is None else f"{text} [{grid.paper_figure(entry.paper)}]"


def to_html(grid: Grid) -> str:
    """Return a table element; below each figure is the paper's, and the difference."""
    head = "".join(
        f'<th scope="col"{_class(column)}>{escape(grid.name_of(column))}</th>' for column in grid.columns
    )
    body, last = [], ""
    for (dataset, down), cells in grid.lines.items():
        first = dataset != last
        span = sum(key[0] == dataset for key in grid.lines)
        name = f'<th scope="rowgroup" rowspan="{span}">{escape(dataset_label(dataset))}</th>' if first else ""
        figures = "".join(_html_cell(grid, cells.get(column), column) for column in grid.columns)
        body.append(
            f'<tr{" class=first" if first else ""}>{name}<th scope="row"{_class(down)}>'
            f"{escape(grid.name_of(down))}</th>{figures}</tr>"
        )
        last = dataset
    return (
        f'<div class="wide"><table><caption>{escape(grid.caption)}</caption><thead><tr>'
        f'<th scope="col">data</th><th scope="col">{escape(grid.corner)}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _class(*keys: str | float) -> str:
    return ' class="ours"' if any(key in OURS for key in keys) else ""


def _html_cell(grid: Grid, entry: Entry | None, column: str | float) -> str:
    if entry is None:
        return "<td></td>"
    classes: Sequence[str] = [
        name
        for name, on in (("best", entry.best), ("top", entry.best_of_all), ("ours", entry.method in OURS))
        if on
    ]
    text = f"<b>{grid.figure(entry.mean)}</b> <small>± {grid.figure(entry.sd)}</small>"
    if entry.off is not None and entry.paper is not None:
        paper, off = grid.paper_figure(entry.paper), grid.figure(entry.off, sign=True)
        text += f'<span class="paper">{paper} ({off})</span>'
    return f'<td class="{" ".join(classes)}">{text}</td>' if classes else f"<td>{text}</td>"
