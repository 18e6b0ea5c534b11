"""Tables that are read block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine, join

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Part:
    """Some rows of a table, read.

    Attributes
    ----------
    X : (m, d) array
        NaN in the holes.
    y : (m,) array or None
        Labels; NaN or None where missing. None: the table has no target.
    row_ids : (m,) array or None
        The user's names of the rows; None: rows are numbered.
    start : int
        The number of the first row in the whole table.
    """

    X: Array
    y: NDArray[Any] | None
    row_ids: NDArray[Any] | None
    start: int


class Block(Protocol):
    """Where some rows of a table are, small enough to be sent about."""

    @property
    def start(self) -> int:
        """Number of the first row in the whole table."""

    @property
    def stop(self) -> int:
        """Number of the row after the last."""

    def read(self) -> Part:
        """Read the rows."""


class Source(Protocol):
    """A table that can be read in row blocks. `open_blocks` makes one."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the d feature columns."""

    @property
    def named(self) -> bool:
        """Whether the user gave the names of the columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    @property
    def target(self) -> str | None:
        """Name of the column of labels; None: there is none."""

    @property
    def row_id(self) -> str | None:
        """Name of the column that names the rows; None: rows are numbered."""

    def blocks(self, most_rows: int) -> list[Block]:
        """Cut the table into blocks of at most so many rows, in order; each has at least one."""

    def identity(self) -> dict[str, Any]:
        """Return what tells this table from another, as plain data: for checkpoints."""


def split(source: Source, engine: Engine) -> Blocks:
    """Cut a table into blocks of the size that suits an engine."""
    rows = engine.block_rows(source.n_rows, max(1, len(source.columns)) * source.dtype.itemsize)
    return Blocks(source.blocks(rows))


def sample(engine: Engine, blocks: Blocks, every: int) -> tuple[Array, NDArray[Any] | None]:
    """Gather every k-th row of a table: its cells and labels."""
    parts = engine.reduce(_every_kth, join, blocks, shared=(every,))
    X = np.concatenate([X for X, _ in parts])
    y = None if parts[0][1] is None else np.concatenate([y for _, y in parts])
    return X, y


def _every_kth(block: Block, every: int) -> tuple[tuple[Array, NDArray[Any] | None], ...]:
    part = block.read()
    rows = slice((-part.start) % every, None, every)
    return ((part.X[rows], None if part.y is None else part.y[rows]),)
