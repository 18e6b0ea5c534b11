"""Encode cells as numeric columns for models, and decode them back to values that cells can hold.

All conversion between the two happens here. A table has p columns of cells; a model sees d >= p numeric
columns, because an unordered category of three or more texts takes one column per text. `ColumnLayout` knows
which columns belong together; `Encoded` is one encoded table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellworth.arrays import AnyArray, BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.errors import DataError
from cellworth.messages import shorten
from cellworth.setting_names import setting
from cellworth.table.column import UNORDERED, Column
from cellworth.table.unmeasured_column import with_prior

LARGEST = 1e30
"""Squares and fourth powers of larger numbers, and their 32-bit forms, are infinite in some models."""


@dataclass(frozen=True)
class ColumnLayout:
    """Which numeric columns represent which column of cells; depends on a table's columns, not its cells.

    Parameters
    ----------
    columns : tuple of Column, length p

    Examples
    --------
    >>> hue = Column("hue", "category", categories=("blue", "green", "red"))
    >>> layout = ColumnLayout((Column("size", "number"), hue))
    >>> layout.feature_names
    ('size', 'hue=blue', 'hue=green', 'hue=red')
    >>> layout.sum_by_cell([1.0, 0.5, 0.25, 0.0]), layout.columns_of(1)
    (array([1.  , 0.75]), slice(1, 4, None))
    """

    columns: tuple[Column, ...]

    @classmethod
    def of_numbers(cls, d: int) -> ColumnLayout:
        """Return the layout of d columns of numbers, x0, x1, ...: each cell is one numeric column."""
        return cls(tuple(Column(f"x{j}", "number") for j in range(d)))

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """(d,) The column's name, or "name=category" for the columns of a category."""
        return tuple(name for column in self.columns for name in _feature_names(column))

    @cached_property
    def starts(self) -> IntArray:
        """(p + 1,) The first numeric column of each column of cells, then d; read-only."""
        widths = [len(_feature_names(column)) for column in self.columns]
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        starts.setflags(write=False)
        return starts

    @cached_property
    def owner(self) -> IntArray:
        """(d,) The column of cells that each numeric column belongs to, non-decreasing; read-only."""
        owner = np.repeat(np.arange(len(self.columns), dtype=np.intp), np.diff(self.starts))
        owner.setflags(write=False)
        return owner

    @property
    def width(self) -> int:
        """The number d of numeric columns."""
        return int(self.starts[-1])

    def columns_of(self, place: int) -> slice:
        """Return the numeric columns of one column of cells; O(1)."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    def encode(self, values: Float64Array) -> Float64Array:
        """Encode cells (n, p), NaN = hole, as numeric columns (n, d), read-only; O(n d)."""
        blocks = [_encode_column(column, values[:, place]) for place, column in enumerate(self.columns)]
        X = np.hstack(blocks)
        X.setflags(write=False)
        return X

    def sum_by_cell(self, scores: npt.ArrayLike) -> Float64Array:
        """Sum the scores of the numeric columns that belong to each cell: a category is bought as one cell.

        Parameters
        ----------
        scores : array-like of shape (..., d)

        Returns
        -------
        ndarray of shape (..., p)
            The scores themselves, not a copy, if every cell is one numeric column. O(size of the scores).
        """
        given = _numbers(scores, "scores")
        if given.ndim == 0 or given.shape[-1] != self.width:
            raise DataError(
                f"scores must have one number for each of the {self.width} encoded columns, got the shape "
                f"{given.shape}."
            )
        if self.width == len(self.columns):
            return given
        sums: Float64Array = np.add.reduceat(given, self.starts[:-1], axis=-1)
        return sums

    def by_column(self, cells: AnyArray) -> AnyArray:
        """Repeat each cell's entry (..., p) for the numeric columns (..., d) that represent it."""
        return cells[..., self.owner]

    def share_by_column(self, cells: Float64Array) -> Float64Array:
        """Share each cell's amount (..., p) evenly among its numeric columns (..., d); see `sum_by_cell`."""
        return self.by_column(cells / np.diff(self.starts))

    def known(self, X: Float64Array) -> BoolArray:
        """Return which cells (n, p) have a value in the numeric columns X (n, d); O(n p)."""
        return ~np.isnan(X[:, self.starts[:-1]])

    def decode_column(self, place: int, block: Float64Array) -> Float64Array:
        """Decode finite numeric columns (m, width of the column) to values (m,) that the column allows.

        A category decodes to the one with the largest number, other kinds to the closest value allowed:
        within the bounds, and whole if the kind is. O(m width).
        """
        if block.shape[1] > 1:
            return np.argmax(block, axis=1).astype(np.float64)
        return self.columns[place].nearest(block[:, 0])


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as a numeric matrix, with methods to convert back.

    Attributes
    ----------
    X : ndarray of shape (n, d), read-only
        NaN = hole. A hole in a category is NaN in all columns that belong to it.
    layout : ColumnLayout
        Which columns of X belong to which column of the table.
    values : ndarray of shape (n, p)
        The cells.

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
    layout: ColumnLayout
    values: Float64Array = field(repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The p columns of the table."""
        return self.layout.columns

    @property
    def feature_names(self) -> tuple[str, ...]:
        """(d,) The column's name, or "name=category" for the columns of a category."""
        return self.layout.feature_names

    @property
    def owner(self) -> IntArray:
        """(d,) The column of cells that each column of X belongs to, non-decreasing."""
        return self.layout.owner

    @property
    def holes(self) -> BoolArray:
        """(n, d) bool, True where `X` has no value."""
        return np.isnan(self.X)

    @property
    def unmeasured(self) -> BoolArray:
        """(p,) bool, True for columns without a known value."""
        return np.asarray(np.isnan(self.values).all(axis=0))

    def decode(self, X_filled: npt.ArrayLike) -> Float64Array:
        """Decode a completed matrix to cells that the columns allow; see `ColumnLayout.decode_column`.

        Observed cells come back bit for bit. O(n d).

        Parameters
        ----------
        X_filled : array-like of shape (n, d)
            Finite in all holes of `X`; entries for observed cells are ignored.

        Returns
        -------
        ndarray of shape (n, p)
            New values of the table.
        """
        filled = self._checked(X_filled)
        cells = self.values.copy()
        for place in range(len(self.columns)):
            rows = np.isnan(cells[:, place])
            if rows.any():
                block = filled[rows, self.layout.columns_of(place)]
                cells[rows, place] = self.layout.decode_column(place, block)
        return cells

    def decode_ends(self, end: npt.ArrayLike) -> Float64Array:
        """Decode one end of the holes' intervals to cells; an observed cell is its own interval.

        A boolean or category has no interval: its holes stay NaN. O(n d).

        Parameters
        ----------
        end : array-like of shape (n, d)
            Lower or upper ends, finite in the holes of `X`.

        Returns
        -------
        ndarray of shape (n, p)
        """
        given = self._with_shape(end, "end")
        cells = self.values.copy()
        for place, column in enumerate(self.columns):
            if column.kind not in UNORDERED:
                holes = np.isnan(cells[:, place])
                cells[holes, place] = column.nearest(given[holes, self.layout.starts[place]])
        return cells

    def sum_by_cell(self, scores: npt.ArrayLike) -> Float64Array:
        """Sum scores (n, d) to scores of cells (n, p): a category is bought as one cell; O(n d)."""
        return self.layout.sum_by_cell(self._with_shape(scores, "scores"))

    def _checked(self, X_filled: npt.ArrayLike) -> Float64Array:
        filled = self._with_shape(X_filled, "X_filled")
        bad = self.holes & ~np.isfinite(filled)
        if bad.any():
            row, place = np.argwhere(bad)[0]
            raise DataError(
                f"X_filled must have a finite number in every hole, got {filled[row, place]} in row number "
                f"{row} of {self.feature_names[place]!r} ({int(bad.sum())} such cells in total). "
                "Complete the matrix first."
            )
        return filled

    def _with_shape(self, given: npt.ArrayLike, name: str) -> Float64Array:
        matrix = _numbers(given, name)
        if matrix.shape != self.X.shape:
            raise DataError(
                f"{name} must have the shape {self.X.shape} of the encoded table, got {matrix.shape}. "
                "Pass one number per row and encoded column."
            )
        return matrix


def refuse_huge(
    values: Float64Array, row_ids: Sequence[str], columns: Sequence[Column], *, may_be_hole: bool = True
) -> None:
    """Raise DataError, naming the cell, for the first value (n, p) too large to compute with; O(n p).

    ``may_be_hole``: whether such a number may mark a hole in the user's file.
    """
    with np.errstate(invalid="ignore"):
        huge = np.argwhere(np.abs(values) > LARGEST)
    if len(huge):
        i, j = huge[0].tolist()
        hole = f", or say {setting('missing', f'{values[i, j]:g}')} if it marks a hole" if may_be_hole else ""
        raise DataError(
            f"row {shorten(row_ids[i])}, column {shorten(columns[j].name)}: expected a number between "
            f"-{LARGEST:g} and {LARGEST:g}; got {values[i, j]:g}. Use another unit{hole}."
        )


def encode(columns: Sequence[Column], values: Float64Array, *, prior: bool = False) -> Encoded:
    """Encode the cells (n, p) of a table as a matrix (n, d); O(n d).

    With ``prior``, columns without a known value get some made-up ones in X: see `with_prior`.
    """
    layout = ColumnLayout(tuple(columns))
    X = layout.encode(with_prior(layout.columns, values) if prior else values)
    return Encoded(X, layout, values)


def _feature_names(column: Column) -> list[str]:
    if column.kind != "category" or len(column.categories) == 1:
        return [column.name]
    names = [f"{column.name}={category}" for category in column.categories]
    return names[1:] if len(names) == 2 else names


def _encode_column(column: Column, cells: Float64Array) -> Float64Array:
    if column.kind != "category" or len(column.categories) <= 2:
        return cells[:, np.newaxis]
    one_hot = (cells[:, np.newaxis] == np.arange(len(column.categories))).astype(np.float64)
    one_hot[np.isnan(cells)] = np.nan
    return one_hot


def _numbers(given: npt.ArrayLike, name: str) -> Float64Array:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be an array of numbers: {error}.") from error
