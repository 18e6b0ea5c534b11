"""Scaled row blocks that are kept between passes or, where memory is short, read again in each pass.

A pass needs the scaled cells of a block besides its state. What does not fit in memory goes to disk, state
and cells alike; but the cells are on disk already, in the table's own files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellworth.blocks.engine_protocol import Blocks
from cellworth.complete.solver.passes_over_blocks import Outline, ScaledBlock, scaled_block

if TYPE_CHECKING:
    from cellworth.blocks.row_source import Block, Source

STATE_ARRAYS = 2  # of the size of the table: iterate and point
TRAIL_SHARE = 0.2  # of another, for the moves of sampled rows


@dataclass(frozen=True)
class UnreadBlock:
    """Where the rows of a block are, and what it takes to scale them.

    Attributes
    ----------
    block : Block
    before : (int, int)
        Labelled and unlabelled rows in the blocks before it.
    outline : Outline
    """

    block: Block
    before: tuple[int, int]
    outline: Outline

    def scaled(self) -> ScaledBlock:
        """Read the rows and scale them."""
        return scaled_block(self.block.read(), self.before, self.outline)


def scaled_blocks(source: Source, before: Sequence[tuple[int, int]], outline: Outline) -> Blocks:
    """Return the scaled blocks of a table, kept by the engine if they fit beside the states of their rows."""
    if fits_in_memory(source):
        return source.map(scaled_block, Blocks(before), shared=(outline,))
    pairs = zip(source.blocks.items, before, strict=True)
    return Blocks([UnreadBlock(block, counts, outline) for block, counts in pairs])


def fits_in_memory(source: Source) -> bool:
    """Return whether the scaled blocks of a table fit beside the states of their rows."""
    room, numbers = source.engine.room(), source.n_rows * len(source.columns)
    return room is None or cell_bytes(source.dtype.itemsize) * numbers <= room


def cell_bytes(itemsize: int) -> float:
    """Return how many bytes are kept between passes for each cell of a table, with its scaled blocks."""
    return (STATE_ARRAYS + TRAIL_SHARE + 1) * itemsize + 1
