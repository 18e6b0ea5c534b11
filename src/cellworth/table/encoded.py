"""Cells to numeric columns that models can work on, and back to values that cells can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellworth.arrays import BoolArray, Float64Array
from cellworth.errors import DataError
from cellworth.table.column import Column


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as a numeric matrix; an unordered category of three or more texts takes one column each.

    Attributes
    ----------
    X : ndarray of shape (n, d), read-only
        NaN = hole. A hole in a category is NaN in all columns that belong to it.
    feature_names : tuple of str of length d
        The column's name, or "name=category" for the columns of a category.
    owner : ndarray of int of shape (d,), read-only
        The place, in the columns of the table, of the cell column that each encoded column belongs to.

    Examples
    --------
    >>> from cellworth.table import Table
    >>> table = Table.from_arrays([[1.5, "red"], [None, "blue"], [2.5, "green"], [2.0, None]])
    >>> encoded = table.encode()
    >>> encoded.feature_names
    ('x0', 'x1=blue', 'x1=green', 'x1=red')
    >>> filled = np.where(np.isnan(encoded.X), 0.3, encoded.X)
    >>> encoded.decode(filled)[[1, 3]]
    array([[0.3, 0. ],
           [2. , 0. ]])
    """

    X: Float64Array
    feature_names: tuple[str, ...]
    owner: npt.NDArray[np.intp]
    columns: tuple[Column, ...] = field(repr=False)
    values: Float64Array = field(repr=False)

    @property
    def holes(self) -> BoolArray:
        """(n, d) bool, True where `X` has no value."""
        return np.isnan(self.X)

    def decode(self, X_filled: npt.ArrayLike) -> Float64Array:
        """Turn a completed matrix into cells that the columns allow.

        A category becomes the one with the largest number, other kinds the closest value that the column
        allows: whole where the kind is whole, inside the bounds. Observed cells come back bit for bit.

        Parameters
        ----------
        X_filled : array-like of shape (n, d)
            Finite numbers in all holes of `X`; what it says about observed cells is not looked at.

        Returns
        -------
        ndarray of shape (n, p)
            New values of the table.
        """
        filled = self._checked(X_filled)
        cells = self.values.copy()
        for place, column in enumerate(self.columns):
            rows = np.isnan(cells[:, place])
            if rows.any():
                block = filled[np.ix_(rows, self.owner == place)]
                if block.shape[1] > 1:
                    cells[rows, place] = np.argmax(block, axis=1)
                else:
                    cells[rows, place] = column.nearest(block[:, 0])
        return cells

    def sum_by_cell(self, scores: npt.ArrayLike) -> Float64Array:
        """Add up the scores of the encoded columns that belong to one cell: a category is bought as one.

        Parameters
        ----------
        scores : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, p)
        """
        given = self._with_shape(scores, "scores")
        starts = np.searchsorted(self.owner, np.arange(len(self.columns)))
        sums: Float64Array = np.add.reduceat(given, starts, axis=1)
        return sums

    def _checked(self, X_filled: npt.ArrayLike) -> Float64Array:
        filled = self._with_shape(X_filled, "X_filled")
        bad = self.holes & ~np.isfinite(filled)
        if bad.any():
            row, place = np.argwhere(bad)[0]
            raise DataError(
                f"X_filled must have a finite number in every hole, got {filled[row, place]} in row number "
                f"{row} of {self.feature_names[place]!r}, and {int(bad.sum())} such cells in all. "
                "Complete the matrix first."
            )
        return filled

    def _with_shape(self, given: npt.ArrayLike, name: str) -> Float64Array:
        try:
            matrix = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{name} must be a matrix of numbers of shape {self.X.shape}: {error}."
            ) from error
        if matrix.shape != self.X.shape:
            raise DataError(
                f"{name} must have the shape {self.X.shape} of the encoded table, got {matrix.shape}. "
                "Pass one number per row and encoded column."
            )
        return matrix


def encode(columns: Sequence[Column], values: Float64Array) -> Encoded:
    """Encode the cells (n, p) of a table into a matrix (n, d); O(n d)."""
    blocks, names, owner = [], [], []
    for place, column in enumerate(columns):
        block, block_names = _encode_column(column, values[:, place])
        blocks.append(block)
        names.extend(block_names)
        owner.extend([place] * len(block_names))
    X = np.hstack(blocks)
    owners = np.array(owner, dtype=np.intp)
    X.setflags(write=False)
    owners.setflags(write=False)
    return Encoded(X, tuple(names), owners, tuple(columns), values)


def _encode_column(column: Column, cells: Float64Array) -> tuple[Float64Array, list[str]]:
    if column.kind != "category" or len(column.categories) == 1:
        return cells[:, np.newaxis], [column.name]
    names = [f"{column.name}={category}" for category in column.categories]
    if len(names) == 2:
        return cells[:, np.newaxis], names[1:]
    one_hot = (cells[:, np.newaxis] == np.arange(len(names))).astype(np.float64)
    one_hot[np.isnan(cells)] = np.nan
    return one_hot, names
