"""Every k-th row of a table in row blocks, for what needs rows in memory: models, forecasts, simulations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from cellworth.arrays import IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.errors import SampleWarning
from cellworth.table import AnyTable, Table, as_table

SAMPLE_ROWS = 8_000
SAMPLE_CELLS = 2_000_000
"""At least half as many rows as this, if there are, or as few as fit."""


@dataclass(frozen=True)
class RowSample:
    """Every ``every``-th row of a table of ``n_rows``, from the first; ``holes`` (p,) are those of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Table
    >>> sample = RowSample.of(Table.open(np.arange(20_000.0)[:, None]))
    >>> sample.table.shape, round(sample.weight, 2), sample.words
    ((6667, 1), 3.0, 'every 3rd row, 6,667 of 20,000')
    """

    table: Table
    n_rows: int
    every: int
    holes: IntArray

    @classmethod
    def of(cls, table: BlockTable) -> RowSample:
        """Read the sample; a pass, unless every row is in it."""
        every = stride(table.n_rows, len(table.columns))
        return cls(table.every(every), table.n_rows, every, table.holes_by_column)

    @property
    def weight(self) -> float:
        """How many rows each row stands for."""
        return self.n_rows / max(1, len(self.table.row_ids))

    @property
    def words(self) -> str:
        """Say which rows these are."""
        number = {2: "2nd", 3: "3rd"}.get(self.every, f"{self.every:,}th")
        ends = self.every % 10, self.every // 10 % 10
        if self.every > 3 and ends[0] in (1, 2, 3) and ends[1] != 1:
            number = f"{self.every:,}{('st', 'nd', 'rd')[ends[0] - 1]}"
        return f"every {number} row, {len(self.table.row_ids):,} of {self.n_rows:,}"


def stride(n_rows: int, n_columns: int) -> int:
    """Return k, where every k-th row is the sample of a table."""
    return -(-n_rows // max(1, min(SAMPLE_ROWS, SAMPLE_CELLS // max(1, n_columns))))


def in_memory(given: AnyTable, what: str, *, target: str | None = None) -> tuple[Table, RowSample | None]:
    """Return a table whose rows are in memory; of a `BlockTable`, a sample, and a warning that says so.

    ``what`` the rows are for begins the warning, as in "the model".
    """
    if not isinstance(given, BlockTable):
        return as_table(given, target=target), None
    sample = RowSample.of(given)
    if sample.every > 1:
        warn_of(sample.words, what)
    return sample.table, sample


def warn_of(words: str, what: str) -> None:
    """Warn that something is that of a sample of rows."""
    text = f"{what} looks at a sample of the rows, {words}; its intervals are those of the sample."
    warnings.warn(text, SampleWarning, stacklevel=4)
