"""The settings of a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass

SIZES = ((2_000, 20), (20_000, 20), (20_000, 100), (200_000, 20))
ROWS = (20_000, 63_000, 200_000, 630_000, 2_000_000)  # for the scaling part


@dataclass(frozen=True)
class Settings:
    """The command-line options."""

    quick: bool = False
    seed: int = 0
    cpu_limit: int = 40  # CPU seconds for one solver on one problem
    plot: str | None = None

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return the table sizes (n, d) to compare."""
        return SIZES[:2] if self.quick else SIZES

    @property
    def rows(self) -> tuple[int, ...]:
        """Return the numbers of rows for the scaling part."""
        return ROWS[:3] if self.quick else ROWS


def size_name(n: int, d: int) -> str:
    """Format a table size, such as "20,000 x 20"."""
    return f"{n:,} x {d}"


def progress(message: str) -> None:
    """Print what is running to standard error."""
    print(f"... {message}", file=sys.stderr, flush=True)
