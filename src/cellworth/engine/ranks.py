"""Rank margins of columns that are seen block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine
from cellworth.blocks.source import Block, sample
from cellworth.complete.completer import scaled_cells
from cellworth.complete.gaussian.margins import Margin, Margins
from cellworth.complete.scaling import Scaling

Array = NDArray[np.floating]
Values = tuple[Array, NDArray[np.int64]]  # distinct values of a column, increasing, and how often each occurs

MOST_VALUES = 100_000  # distinct ones of a column, up to which its margin is exact
SAMPLE_ROWS = 100_000  # from which the margin of a column with more is learned


def learn_margins(
    engine: Engine, blocks: Blocks, scaling: Scaling, ranked: bool, n_rows: int, n_columns: int
) -> Margins:
    """Return the margins of all columns; ranked or not.

    They are those of the whole table for columns of at most `MOST_VALUES` distinct values; for others, those
    of about `SAMPLE_ROWS` rows, evenly spread over the table. One or two passes.
    """
    if not ranked:
        return Margins((None,) * n_columns)
    found: list[Values | None] = list(engine.reduce(_distinct, _merge, blocks, shared=(scaling,)))
    if any(values is None for values in found):
        X, _ = sample(engine, blocks, max(1, n_rows // SAMPLE_ROWS))
        of_sample = _distinct_values(X, scaling, most=len(X))
        found = [b if a is None else a for a, b in zip(found, of_sample, strict=True)]
    return Margins(tuple(Margin.of_counts(*values) for values in found if values is not None))


def _distinct(block: Block, scaling: Scaling) -> tuple[Values | None, ...]:
    return _distinct_values(block.read().X, scaling, MOST_VALUES)


def _distinct_values(X: Array, scaling: Scaling, most: int) -> tuple[Values | None, ...]:
    values, observed = scaled_cells(X.astype(np.float64, copy=False), scaling)
    columns = (values[observed[:, j], j] for j in range(X.shape[1]))
    return tuple(_bounded(*np.unique(column, return_counts=True), most) for column in columns)


def _merge(a: tuple[Values | None, ...], b: tuple[Values | None, ...]) -> tuple[Values | None, ...]:
    return tuple(
        None if of_a is None or of_b is None else _together(of_a, of_b)
        for of_a, of_b in zip(a, b, strict=True)
    )


def _together(a: Values, b: Values) -> Values | None:
    values, place = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    counts = np.bincount(place, weights=np.concatenate([a[1], b[1]])).astype(np.int64)
    return _bounded(values, counts, MOST_VALUES)


def _bounded(values: Any, counts: Any, most: int) -> Values | None:
    return None if len(values) > most else (values, counts)
