"""The labelled rows that a scorer's model is trained on: all of them, or a sample of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.hold_out import sample_rows
from cellworth.complete.labels import LabelCode, label_code

TRAINING_ROWS = 4_000
"""The most rows the model is trained on; a sample of longer tables is used."""


def training_sample(rng: np.random.Generator, n_rows: int) -> IntArray:
    """Return which labelled rows to train on, counted among them; draws only if there are too many.

    Likewise which rows without a label to look at.
    """
    return sample_rows(n_rows, TRAINING_ROWS, rng)


def labels_to_learn(completed: CompletedBlocks) -> LabelCode | None:
    """Return the code of the labels of a table of row blocks; None if fewer than two differ."""
    labels = completed.summary.labels
    if labels is None or (labels.classes is not None and len(labels.classes) < 2):
        return None
    kind: Any = getattr(completed.completer, "target", "auto")
    return label_code(labels, "squared", kind, f"the target {completed.source.target!r}")


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
