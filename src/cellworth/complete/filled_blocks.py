"""Fill the holes of a table in row blocks, and write it block by block as the user's own values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.cell_rules import CellRules
from cellworth.blocks.engine_protocol import Blocks, add
from cellworth.blocks.row_source import Part
from cellworth.blocks.writing import FilledPart, new_folder, whole_folder, write_part
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_number
from cellworth.complete.labels import tell_target
from cellworth.errors import DataError, ParameterError
from cellworth.table import Table
from cellworth.table.column import MEASURED, UNORDERED, Column
from cellworth.table.encoded import Encoded
from cellworth.table.target import label_kind_of
from cellworth.table.unmeasured_column import UniformPrior


@dataclass(frozen=True, eq=False)
class FilledBlocks:
    """A filled table in row blocks: its cells are worked out as they are read or written.

    Attributes
    ----------
    table : BlockTable
        The table with its holes.
    completer : estimator
        Fitted to the encoded table; ``completer.completed_`` is a `CompletedBlocks`.
    level : float or None
        Of the intervals, if they were asked for.
    """

    table: BlockTable
    completer: Any
    level: float | None = None

    def rows(self, numbers: Sequence[int] | IntArray) -> Table:
        """Return some filled rows, given by their numbers in increasing order, as a table in memory."""
        wanted = np.asarray(numbers, dtype=np.intp)
        if not len(wanted):
            return self.table.rows(wanted)
        return self.filler.table(self._completed().rows(wanted))

    def guesses(self, numbers: Sequence[int] | IntArray) -> FilledRows:
        """Return some filled rows, given by their numbers in increasing order, and how sure each cell is.

        Reads the blocks that these rows are in; at least one row.
        """
        completed = self._completed().rows(np.asarray(numbers, dtype=np.intp))
        return self.filler.rows(completed)

    @property
    def spread(self) -> Float64Array:
        """The variance (p,) of each column's known cells; of a category, that of its numeric columns in all.

        That of an unmeasured column is that of the values which were made up for the fit.
        """
        sums = self.completer.completed_.summary.sums
        return self.table.layout.sum_by_cell((sums.squares / np.maximum(sums.count, 1))[np.newaxis])[0]

    def write(self, path: str | PathLike[str], *, variance: bool = False) -> None:
        """Write the filled table as a Parquet folder, which appears once it is complete.

        Row ids come first, the target last; categories, whole numbers, dates and bounds are kept, and
        `Table.open` reads it back. With a level, numbers, whole numbers and dates are followed by
        ``<name>_lower`` and ``<name>_upper``; with ``variance``, columns by ``<name>_variance``. A path that
        ends in .zarr writes an array, if all columns are numbers.
        """
        if variance and not self.completer.completed_.has_variance:
            raise ParameterError(
                f"{type(self.completer).__name__} has no variances; write without variance=True"
            )
        if Path(path).suffix == ".zarr":
            if any(column.kind not in ("number", "integer", "boolean") for column in self.table.columns):
                raise DataError(f"{path}: a Zarr array holds numbers only; write a Parquet folder.")
            self.completer.completed_.write(path, variance=variance)
            return
        filler = self._filler(variance=variance)
        filler.check_names()
        partial, final = new_folder(path)
        completed = self._completed()
        numbers = Blocks(range(len(completed.source.blocks)))
        completed.reduce(_write_part, add, numbers, shared=(filler, str(partial)))
        whole_folder(partial, final)

    def _completed(self) -> CompletedBlocks:
        """Return the completed blocks, which bring their row ids."""
        completed: CompletedBlocks = self.completer.completed_
        return replace(completed, source=completed.source.with_ids())

    @property
    def filler(self) -> Filler:
        """What turns completed rows into the user's values; small enough to send to workers."""
        return self._filler(variance=False)

    def _filler(self, *, variance: bool) -> Filler:
        completer = self.completer.completed_.completer if self.level is not None else None
        return Filler(self.table.rules, self.table.fineness, completer, self.level, variance)


@dataclass(frozen=True, eq=False)
class FilledRows:
    """Some filled rows of a table in row blocks; the attributes are those of `FilledTable`.

    Attributes
    ----------
    table : Table
        Without holes.
    variance, lower, upper : (k, p) arrays or None
    level : float or None
    guessed : (k, p) array of bool
    """

    table: Table
    variance: Float64Array | None
    lower: Float64Array | None
    upper: Float64Array | None
    level: float | None
    guessed: BoolArray


@dataclass(frozen=True)
class Filler:
    """Turns the completed rows of a block into a table of the user's values; sent to the workers.

    Attributes
    ----------
    rules : CellRules
    fineness : tuple of int or None, length p
    completer : completer or None
        For intervals.
    level : float or None
    variance : bool
        Whether to add columns of variances.
    """

    rules: CellRules
    fineness: tuple[int | None, ...]
    completer: Any
    level: float | None
    variance: bool

    def table(self, filled: FilledPart) -> Table:
        """Return the rows as a table without holes, with columns for what else is asked for."""
        rules, encoded = self.rules, self._encoded(filled.part.X)
        columns, values = list(rules.columns), [self._guesses(filled, encoded)]
        for extra, numbers in (*self._interval_columns(filled, encoded), *self._variance_columns(filled)):
            columns.append(extra)
            values.append(numbers[:, np.newaxis])
        return self._table(filled.part, columns, np.hstack(values))

    def rows(self, filled: FilledPart) -> FilledRows:
        """Return the rows with the variances and intervals of their cells."""
        encoded = self._encoded(filled.part.X)
        table = self._table(filled.part, list(self.rules.columns), self._guesses(filled, encoded))
        ends = self._ends(filled, encoded)
        lower, upper = (None, None) if ends is None else ends
        return FilledRows(table, self.variances(filled), lower, upper, self.level, np.isnan(encoded.values))

    def _table(self, part: Part, columns: list[Column], values: Float64Array) -> Table:
        target = self.rules.target
        if target is not None:
            target = replace(target, values=np.asarray(part.y, dtype=np.float64))
        ids = tuple(map(str, [] if part.row_ids is None else part.row_ids))
        return Table(columns, values, ids, target, self.rules.row_id)

    def _guesses(self, filled: FilledPart, encoded: Encoded) -> Float64Array:
        cells = self._rounded(encoded, encoded.decode(filled.completed))
        for j in np.flatnonzero(self.rules.unmeasured).tolist():
            cells[:, j] = UniformPrior(self.rules.columns[j]).guess
        return cells

    def _encoded(self, X: FloatArray) -> Encoded:
        """Return the cells that the encoded rows stand for; see `Encoded`."""
        layout = self.rules.layout
        numbers: Float64Array = np.array(X, dtype=np.float64)
        for j in np.flatnonzero(self.rules.unmeasured).tolist():  # made up for the fit
            numbers[:, layout.columns_of(j)] = np.nan
        values: Float64Array = np.full((len(X), len(layout.columns)), np.nan)
        known = layout.known(numbers)
        for j in range(len(layout.columns)):
            block = numbers[:, layout.columns_of(j)]
            seen = known[:, j]
            values[seen, j] = block[seen].argmax(axis=1) if block.shape[1] > 1 else block[seen, 0]
        return Encoded(numbers, layout, values)

    def _rounded(self, encoded: Encoded, cells: Float64Array) -> Float64Array:
        holes = np.isnan(encoded.values)
        for j, column in enumerate(self.rules.columns):
            cells[holes[:, j], j] = column.rounded(cells[holes[:, j], j], self.fineness[j])
        return cells

    def _ends(self, filled: FilledPart, encoded: Encoded) -> tuple[Float64Array, Float64Array] | None:
        """Return the ends (m, p) of the intervals, NaN in the holes of booleans and categories."""
        if self.level is None:
            return None
        lower, upper = (
            self._rounded(encoded, encoded.decode_ends(end))
            for end in self.completer.intervals_of(filled.part, self.level)
        )
        for j in np.flatnonzero(self.rules.unmeasured).tolist():
            column = self.rules.columns[j]
            if column.kind not in UNORDERED:
                lower[:, j], upper[:, j] = UniformPrior(column).interval(self.level)
        return lower, upper

    def _interval_columns(self, filled: FilledPart, encoded: Encoded) -> list[tuple[Column, Float64Array]]:
        ends = self._ends(filled, encoded)
        if ends is None:
            return []
        return [
            (replace(column, name=f"{column.name}_{end}"), cells[:, j])
            for j, column in enumerate(self.rules.columns)
            if column.kind in MEASURED
            for end, cells in zip(("lower", "upper"), ends, strict=True)
        ]

    def variances(self, filled: FilledPart) -> Float64Array | None:
        """Return the variance of each cell (m, p), summed over its numeric columns."""
        if filled.variance is None:
            return None
        by_cell = np.array(self.rules.layout.sum_by_cell(filled.variance.astype(np.float64)))
        for j in np.flatnonzero(self.rules.unmeasured).tolist():
            by_cell[:, j] = UniformPrior(self.rules.columns[j]).variance
        return by_cell

    def _variance_columns(self, filled: FilledPart) -> list[tuple[Column, Float64Array]]:
        by_cell = self.variances(filled) if self.variance else None
        if by_cell is None:
            return []
        return [
            (Column(f"{column.name}_variance", "number"), by_cell[:, j])
            for j, column in enumerate(self.rules.columns)
        ]

    def check_names(self) -> None:
        """Raise DataError if the name of an added column is taken."""
        target = None if self.rules.target is None else self.rules.target.name
        taken = {column.name for column in self.rules.columns} | {target, self.rules.row_id}
        ends = (*(("_lower", "_upper") if self.level is not None else ()), *(("_variance",) * self.variance))
        new = {f"{column.name}{end}" for column in self.rules.columns for end in ends}
        if taken & new:
            name = min(str(each) for each in taken & new)
            raise DataError(f"the table already has a column {name!r}, a name needed for the results.")


def fill_blocks(
    table: BlockTable,
    completer: Any | None = None,
    *,
    level: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> FilledBlocks:
    """Fill the holes of a table in row blocks; see `fill`. ``checkpoint`` as for `BlockCompleter.fit`."""
    fitted = clone(GaussianCompleter() if completer is None else completer)
    if level is not None:
        check_number("level", level, above=0)
        if level >= 1:
            raise ParameterError(f"level must be below 1; got {level!r}")
    tell_target(fitted, label_kind_of(table.target))
    given = {} if checkpoint is None else {"checkpoint": checkpoint}
    fitted.fit(table.source(), **given)
    has_intervals = level is not None and hasattr(fitted, "intervals_of")
    return FilledBlocks(table, fitted, level if has_intervals else None)


def _write_part(filled: FilledPart, number: int, filler: Filler, folder: str) -> tuple[int]:
    write_part(filler.table(filled), Path(folder), number, filled.part.X.dtype)
    return (1,)
