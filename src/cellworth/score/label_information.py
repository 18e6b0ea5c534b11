r"""What the label of a row tells a linear model of the target, in memory and over row blocks.

With columns standardised and an intercept, let H be the information of the labelled rows, and G the sum of
the outer products of the rows whose predictions count. The label of row x reduces the summed variance of
these predictions, in units of the noise, by

.. math:: \frac{x^\top H^{-1} G H^{-1} x}{1 + x^\top H^{-1} x}

So two sums over the rows are all that must be known of a table; see `VarianceReduction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.labels import unlabelled_rows
from cellworth.complete.linear_model import VarianceReduction
from cellworth.complete.row_finders import RowFinder
from cellworth.complete.scaling import Scaling


def standardised(completed: FloatArray, scaling: Scaling) -> Float64Array:
    """Return completed rows (m, d) standardised, with a column of ones after them, (m, d + 1)."""
    rows = (np.asarray(completed, dtype=np.float64) - scaling.offset) / scaling.width
    return np.column_stack([rows, np.ones(len(rows))])


@dataclass(frozen=True, eq=False)
class LabelInformation:
    """What labels of a table would tell.

    Attributes
    ----------
    scaling : Scaling
        Of the completed table.
    reduction : VarianceReduction
        Of the predictions of all rows.
    mean : float
        The mean reduction by the label of a row that has none; of many such rows, that of a sample.
    """

    scaling: Scaling
    reduction: VarianceReduction
    mean: float

    @classmethod
    def of(cls, completed: Float64Array, unlabelled: BoolArray, some: IntArray) -> Self:
        """Learn it from a completed table (n, d); ``some`` are the numbers of rows without a label."""
        scaling = Scaling.of(completed, "standard")
        X = standardised(completed, scaling)
        return cls._with_mean(scaling, VarianceReduction.of(X, X, ~unlabelled), X[some])

    @classmethod
    def of_products(cls, products: TableProducts, some: FloatArray) -> Self:
        """Do the same, given the products of a table in row blocks and completed rows (m, d) of it."""
        return cls._with_mean(products.scaling, products.reduction, standardised(some, products.scaling))

    @classmethod
    def _with_mean(cls, scaling: Scaling, reduction: VarianceReduction, some: Float64Array) -> Self:
        found = reduction.by(some)
        return cls(scaling, reduction, float(found.mean()) if len(found) else 0.0)

    def leverages(self, completed: FloatArray, unlabelled: BoolArray) -> Float64Array:
        """Return what the label of each completed row (m, d) tells, 0 to 2; 1 if it has one.

        With v the reduction of the variance, relative to its mean over the rows without a label, it is
        2 v / (1 + v): an outlier tells most about itself.
        """
        if self.mean == 0:
            return np.ones(len(completed))
        found = self.reduction.by(standardised(completed, self.scaling))
        return np.where(unlabelled, 2 * found / (self.mean + found), 1.0)


@dataclass(frozen=True, eq=False)
class TableProducts:
    """Sums of the outer products of a table's standardised rows, each (d + 1, d + 1).

    Attributes
    ----------
    scaling : Scaling
        Of the completed table.
    every, labelled : (d + 1, d + 1) arrays
        Over all rows, and over those with a label.
    """

    scaling: Scaling
    every: Float64Array
    labelled: Float64Array

    @property
    def reduction(self) -> VarianceReduction:
        """That of the predictions of all rows."""
        return VarianceReduction(self.labelled, self.every)

    @classmethod
    def of_blocks(cls, completed: CompletedBlocks) -> Self:
        """Make one pass: rows are first scaled as the observed cells are, so that no digits are lost."""
        function, merge, shared = cls.sums_of(completed)
        return cls.of_sums(completed.reduce(function, merge, shared=shared), *shared)

    @classmethod
    def with_rows(
        cls, completed: CompletedBlocks, find: Sequence[RowFinder]
    ) -> tuple[list[IntArray], FilledPart, Self]:
        """Do the same, and gather some rows in the same pass; see `CompletedBlocks.rows_where`."""
        function, merge, shared = cls.sums_of(completed)
        numbers, rows, sums = completed.rows_and_sum(find, function, merge, shared)
        return numbers, rows, cls.of_sums(sums, *shared)

    @classmethod
    def sums_of(cls, completed: CompletedBlocks) -> tuple[Any, Any, tuple[Scaling]]:
        """Return the function of a block, how two results are merged, and the scaling of observed cells."""
        return _products, _all_three, (completed.summary.scaling("standard", np.dtype(np.float64)),)

    @classmethod
    def of_sums(cls, sums: tuple[ColumnSums, Float64Array, Float64Array], first: Scaling) -> Self:
        """Return the products from the merged results of all blocks."""
        of_columns, every, labelled = sums
        scaling = Scaling.of_sums(of_columns, np.float64)
        # x = z * ratio + shift, where z is scaled by the first scaling: linear in (z, 1).
        ratio, shift = first.width / scaling.width, (first.offset - scaling.offset) / scaling.width
        change = np.diag(np.append(ratio, 1.0))
        change[-1, :-1] = shift
        return cls(scaling, change.T @ every @ change, change.T @ labelled @ change)


def _products(filled: FilledPart, first: Scaling) -> tuple[ColumnSums, Float64Array, Float64Array]:
    completed = filled.completed.astype(np.float64, copy=False)
    Z = standardised(completed, first)
    known = Z[~unlabelled_rows(filled.part)]
    return ColumnSums.of(completed), Z.T @ Z, known.T @ known


def _all_three(
    a: tuple[ColumnSums, Float64Array, Float64Array], b: tuple[ColumnSums, Float64Array, Float64Array]
) -> tuple[ColumnSums, Float64Array, Float64Array]:
    return a[0].merged(b[0]), a[1] + b[1], a[2] + b[2]
