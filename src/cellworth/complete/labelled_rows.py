"""Row order for the solver of Eq. (1), labelled rows first, for an array or a block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.row_source import Part
from cellworth.complete.completer import scaled_cells
from cellworth.complete.labels import LabelCode
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.block_passes import ScaledBlock, cut_pieces

Order = slice | IntArray


def labelled_first(labelled: BoolArray) -> Order:
    """Return the row order that the solver expects: labelled rows first."""
    if labelled.all() or not labelled.any():
        return slice(None)
    return np.argsort(~labelled, kind="stable")


def in_order(A: FloatArray, order: Order) -> FloatArray:
    """Return the rows of A, which are sorted by ``order``, in the order of the user's table."""
    if isinstance(order, slice):
        return A
    restored = np.empty_like(A)
    restored[order] = A
    return restored


@dataclass(frozen=True)
class Outline:
    """What a block must know about the whole table: its shape (n, d), and whether labels are used."""

    shape: tuple[int, int]
    supervised: bool
    scaling: Scaling
    code: LabelCode


def scaled_block(part: Part, before: tuple[int, int], outline: Outline) -> ScaledBlock:
    """Scale a block; ``before`` counts the labelled and unlabelled rows in the blocks before it."""
    targets, labelled = outline.code.targets(part.y, len(part.X))
    order = np.argsort(~labelled, kind="stable")
    values, observed = scaled_cells(part.X[order], outline.scaling)
    n_labelled = int(labelled.sum())
    pieces = cut_pieces(
        (n_labelled, before[0]),
        (len(order) - n_labelled, outline.code.n_labelled + before[1]),
        outline.shape,
        values.itemsize,
        supervised=outline.supervised,
    )
    return ScaledBlock(values, observed, targets[order].astype(values.dtype), pieces, order)
