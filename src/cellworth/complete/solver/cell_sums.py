"""What one pass over scaled row blocks tells before the first iteration: sums, and a sample of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.engine_protocol import Blocks, Engine, add
from cellworth.complete.solver.step import Rows

if TYPE_CHECKING:
    from cellworth.complete.solver.passes_over_blocks import ScaledBlock


class CellSums(NamedTuple):
    """Sums over the scaled table with zeros in its holes; additive over blocks."""

    totals: FloatArray  # (d,): sum of each column
    counts: IntArray  # (d,): number of observed cells
    gram: FloatArray  # (d, d)
    square: float  # squared norm of the table
    together: FloatArray  # (d, d): number of rows in which two columns are both observed


class SampledRows(NamedTuple):
    """Some rows of a block, rounded to single precision.

    Attributes
    ----------
    places : (m,) int array
        Their places in the table with labelled rows first.
    values, observed : (m, d) arrays
    targets : (m, n_outputs) array
    """

    places: IntArray
    values: FloatArray
    observed: BoolArray
    targets: FloatArray


def sums_and_sample(
    engine: Engine, data: Blocks, n_targets: int, every: int | None
) -> tuple[CellSums, Rows | None]:
    """Return the sums over all blocks, and every k-th row of the table with labelled rows first; one pass.

    Parameters
    ----------
    data : Blocks of ScaledBlock or UnreadBlock
    n_targets : int
        Number of rows that enter the loss, the first ones of that table.
    every : int or None
        k; None returns no rows.
    """
    sums, found = engine.reduce(_of_block, _merge, data, shared=(every,))
    if every is None:
        return sums, None
    places, values, observed, targets = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(places)
    n_labelled = -(-n_targets // every)
    return sums, Rows(values[order], observed[order], targets[order[:n_labelled]], wide=False)


def _of_block(data: ScaledBlock, every: int | None) -> tuple[CellSums, tuple[SampledRows, ...]]:
    data = data.scaled()
    exact = data.values.astype(np.float64, copy=False)
    squares = float(np.vdot(exact, exact))
    seen = data.observed.astype(np.float64)
    counts = data.observed.sum(axis=0)
    sums = CellSums(exact.sum(axis=0), counts, exact.T @ exact, squares, seen.T @ seen)
    return sums, () if every is None else (_sampled(data, every),)


def _sampled(data: ScaledBlock, every: int) -> SampledRows:
    lengths = [piece.rows.stop - piece.rows.start for piece in data.pieces]
    places = np.concatenate([p.first_row + np.arange(n) for p, n in zip(data.pieces, lengths, strict=True)])
    here = np.flatnonzero(places % every == 0)
    values, targets = data.values[here].astype(np.float32), data.targets[here].astype(np.float32)
    return SampledRows(places[here], values, data.observed[here], targets)


def _merge(
    a: tuple[CellSums, tuple[SampledRows, ...]], b: tuple[CellSums, tuple[SampledRows, ...]]
) -> tuple[CellSums, tuple[SampledRows, ...]]:
    return CellSums(*add(a[0], b[0])), a[1] + b[1]
