"""Tables as plain text and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WIDTH = 110  # characters per line of text
INTRODUCTION = """One run of `{command}` wrote this page, aims and verdicts included. Figures are meant as
ratios within the run: seconds differ between machines and hours, ratios less so. CPU time is that of the
process, its threads and its children, so other programs on the machine disturb it less than wall time."""


@dataclass(frozen=True)
class Aim:
    """What a part aimed at, what came out in this run, and whether that meets it."""

    what: str
    came_out: str
    met: bool


def at_most(what: str, value: float, limit: float, form: str = ".2f", unit: str = "") -> Aim:
    """Return the aim of a value of at most ``limit``."""
    return Aim(f"{what}: at most {limit:g}{unit}", format(value, form) + unit, value <= limit)


def at_least(what: str, value: float, limit: float, form: str = ".2f", unit: str = "") -> Aim:
    """Return the aim of a value of at least ``limit``."""
    return Aim(f"{what}: at least {limit:g}{unit}", format(value, form) + unit, value >= limit)


def table_of_aims(aims: list[Aim]) -> Section:
    """Return all aims as a table of their own."""
    rows = [[aim.what, aim.came_out, "met" if aim.met else "missed"] for aim in aims]
    return Section("What was aimed at, and what came out", ["aim", "came out", "verdict"], rows)


@dataclass
class Section:
    """One table of the report, with notes below it; cells are strings, and numbers are right-aligned."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)

    def text(self) -> str:
        """Return the section with aligned columns."""
        notes = [textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in self.notes]
        lines = [self.title, "=" * len(self.title), *_aligned(self.header, self.rows), *notes]
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """Return the section as a Markdown table."""
        rule = ["---" if self._is_text(j) else "---:" for j in range(len(self.header))]
        rows = [self.header, rule, *self.rows]
        table = ["| " + " | ".join(row) + " |" for row in rows]
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", *table, "", *notes]) + "\n"

    def _is_text(self, j: int) -> bool:
        return _is_text([row[j] for row in self.rows])


def write_page(
    sections: list[Section],
    path: Path,
    machine: str,
    command: str,
    picture: str | None,
    missing: Sequence[str] = (),
) -> None:
    """Write all sections to one page, the aims first; it names the parts that are missing."""
    shown = f"![CPU seconds and peak memory against the number of rows]({picture})"
    aims = table_of_aims([aim for section in sections for aim in section.aims])
    lines = ["# Speed and memory", "", INTRODUCTION.format(command=command), ""]
    lines += [f"Not run to their end: {', '.join(missing)}.", ""] if missing else []
    lines += [aims.markdown()] if aims.rows else []
    lines += [shown, ""] if picture else []
    lines += [f"*{machine}*", "", *(section.markdown() for section in sections)]
    path.write_text("\n".join(lines))


def number(value: float | None, form: str = ".3g") -> str:
    """Format a number for a cell; a dash for None."""
    return "-" if value is None else format(value, form)


def _aligned(header: list[str], rows: list[list[str]]) -> list[str]:
    columns = list(zip(header, *rows, strict=True))
    padded = []
    for column in columns:
        width = max(map(len, column))
        pad = str.ljust if _is_text(list(column[1:])) else str.rjust
        padded.append([pad(cell, width) for cell in column])
    lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _is_text(cells: list[str]) -> bool:
    """Return whether a column holds text, such as sizes or names, rather than numbers, limits or dashes."""
    return any(cell[:1].isalpha() or " x " in cell for cell in cells if cell != "failed")
