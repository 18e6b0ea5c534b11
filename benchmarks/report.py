"""Tables as plain text and as Markdown."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path

WIDTH = 110  # characters per line of text


@dataclass
class Section:
    """One table of the report, with notes below it; cells are strings, and numbers are right-aligned."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

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


def write_markdown(sections: list[Section], path: Path, machine: str) -> None:
    """Write all sections to one file."""
    path.write_text("\n".join(["# Benchmarks", "", machine, "", *(s.markdown() for s in sections)]))


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
