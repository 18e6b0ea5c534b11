"""What a run is asked to do."""

from __future__ import annotations

import sys
from dataclasses import dataclass

SIZES = ((2_000, 20), (20_000, 20), (20_000, 100), (200_000, 20))
ROWS = (20_000, 63_000, 200_000, 630_000, 2_000_000)  # of the scaling part


@dataclass(frozen=True)
class Settings:
    """The options of the command line."""

    quick: bool = False
    seed: int = 0
    cpu_limit: int = 120  # CPU seconds for one solver on one problem
    plot: str | None = None

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return the table sizes (n, d) to compare at."""
        return SIZES[:2] if self.quick else SIZES

    @property
    def rows(self) -> tuple[int, ...]:
        """Return the numbers of rows of the scaling part."""
        return ROWS[:3] if self.quick else ROWS


def size_name(n: int, d: int) -> str:
    """Return "20,000 x 20"."""
    return f"{n:,} x {d}"


def progress(message: str) -> None:
    """Say on the error stream what is being run."""
    print(f"... {message}", file=sys.stderr, flush=True)
