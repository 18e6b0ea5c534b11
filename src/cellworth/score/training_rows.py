"""The labelled rows that a scorer's model is trained on: all of them, or a sample of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.row_source import Part
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.labels import LabelCode, label_code, unlabelled_rows

TRAINING_ROWS = 4_000
"""The most rows the model is trained on; a sample of longer tables is used."""


def training_sample(rng: np.random.Generator, n_rows: int) -> IntArray:
    """Return which labelled rows to train on, counted among them; draws only if there are too many.

    Likewise which rows without a label to look at.
    """
    if n_rows <= TRAINING_ROWS:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, TRAINING_ROWS, replace=False))


def labels_to_learn(completed: CompletedBlocks) -> LabelCode | None:
    """Return the code of the labels of a table of row blocks; None if fewer than two differ."""
    labels = completed.summary.labels
    if labels is None or (labels.classes is not None and len(labels.classes) < 2):
        return None
    kind: Any = getattr(completed.completer, "target", "auto")
    return label_code(labels, "squared", kind, f"the target {completed.source.target!r}")


@dataclass(frozen=True)
class LabelledRows:
    """Finds rows of row blocks by their numbers among the labelled rows of the table, in increasing order.

    Attributes
    ----------
    wanted : (k,) int array
    before : dict of int to int
        How many labelled rows come before each block, by the number of its first row.
    labelled : bool
        False counts among the rows without a label instead.
    """

    wanted: IntArray
    before: dict[int, int]
    labelled: bool = True

    @classmethod
    def of(cls, completed: CompletedBlocks, wanted: IntArray, *, labelled: bool = True) -> LabelledRows:
        """Find rows of a completed table."""
        starts = np.cumsum([0, *completed.summary.rows])[:-1]
        before = np.cumsum([0, *completed.summary.labelled])[:-1]
        if not labelled:
            before = starts - before
        return cls(wanted, dict(zip(starts.tolist(), before.tolist(), strict=True)), labelled)

    def __call__(self, part: Part) -> IntArray:
        """Return their places in a block."""
        first = self.before[part.start]
        counted = np.flatnonzero(unlabelled_rows(part) != self.labelled)
        return counted[
            self.wanted[slice(*np.searchsorted(self.wanted, [first, first + len(counted)]))] - first
        ]


class GatheredRows:
    """Rows of row blocks in one place, as the completer that has completed them.

    Attributes
    ----------
    part : Part
    completed_ : (m, d) array
    """

    def __init__(self, filled: FilledPart, rows: IntArray) -> None:
        self.part = filled.part.some(rows)
        self.completed_: Float64Array = np.asarray(filled.completed[rows], dtype=np.float64)

    def labels(self, code: LabelCode) -> Float64Array:
        """Return their labels (m,): class numbers from 0, or numbers."""
        return np.asarray(code.numbers(self.part.y, len(self.completed_)), dtype=np.float64)
