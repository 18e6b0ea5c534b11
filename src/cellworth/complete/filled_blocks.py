"""Fill the holes of a table in row blocks, and write it block by block as the user's own values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import Float64Array, FloatArray, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.cell_rules import CellRules
from cellworth.blocks.engine_protocol import Blocks, add, join
from cellworth.blocks.writing import FilledPart, new_folder, whole_folder, write_part
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_number
from cellworth.errors import DataError, ParameterError
from cellworth.table import Table
from cellworth.table.column import BOUNDED, Column
from cellworth.table.encoded import Encoded
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
        pieces = self._completed().reduce(_pick, join, shared=(self._filler(variance=False), wanted))
        if not pieces:
            return self.table.rows(wanted)
        first, target = pieces[0], pieces[0].target
        if target is not None:
            target = replace(target, values=np.concatenate([part.y for part in pieces]))
        ids = tuple(name for part in pieces for name in part.row_ids)
        values = np.concatenate([part.values for part in pieces])
        return Table(first.columns, values, ids, target, first.row_id)

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
        return replace(completed, source=completed.source.with_blocks(_with_ids))

    def _filler(self, *, variance: bool) -> Filler:
        completer = self.completer.completed_.completer if self.level is not None else None
        return Filler(self.table.rules, self.table.fineness, completer, self.level, variance)


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
        """Return the rows as a table without holes."""
        rules, part = self.rules, filled.part
        encoded = self._encoded(part.X)
        cells = self._rounded(encoded, encoded.decode(filled.completed))
        for j in np.flatnonzero(rules.unmeasured).tolist():
            cells[:, j] = UniformPrior(rules.columns[j]).guess
        columns, values = list(rules.columns), [cells]
        for extra, numbers in (*self._intervals(filled, encoded), *self._variances(filled)):
            columns.append(extra)
            values.append(numbers[:, np.newaxis])
        target = rules.target
        if target is not None:
            target = replace(target, values=np.asarray(part.y, dtype=np.float64))
        ids = tuple(map(str, [] if part.row_ids is None else part.row_ids))
        return Table(columns, np.hstack(values), ids, target, rules.row_id)

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

    def _intervals(self, filled: FilledPart, encoded: Encoded) -> list[tuple[Column, Float64Array]]:
        if self.level is None:
            return []
        ends = [
            self._rounded(encoded, encoded.decode_ends(end))
            for end in self.completer.intervals_of(filled.part, self.level)
        ]
        found = []
        for j, column in enumerate(self.rules.columns):
            if column.kind in BOUNDED:
                for k, end in enumerate(("lower", "upper")):
                    cells = ends[k][:, j]
                    if self.rules.unmeasured[j]:
                        cells = np.full(len(cells), UniformPrior(column).interval(self.level)[k])
                    found.append((replace(column, name=f"{column.name}_{end}"), cells))
        return found

    def _variances(self, filled: FilledPart) -> list[tuple[Column, Float64Array]]:
        if not self.variance or filled.variance is None:
            return []
        by_cell = np.array(self.rules.layout.sum_by_cell(filled.variance.astype(np.float64)))
        for j in np.flatnonzero(self.rules.unmeasured).tolist():
            by_cell[:, j] = UniformPrior(self.rules.columns[j]).variance
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
    if table.target is not None and fitted.get_params().get("target") == "auto":
        fitted.set_params(target=table.target.label_kind)
    given = {} if checkpoint is None else {"checkpoint": checkpoint}
    fitted.fit(table.source(), **given)
    has_intervals = level is not None and hasattr(fitted, "intervals_of")
    return FilledBlocks(table, fitted, level if has_intervals else None)


def _with_ids(block: Any) -> Any:
    return replace(block, with_ids=True)


def _pick(filled: FilledPart, filler: Filler, wanted: IntArray) -> tuple[Table, ...]:
    start = filled.part.start
    rows = wanted[slice(*np.searchsorted(wanted, [start, start + len(filled.completed)]))] - start
    if not len(rows):
        return ()
    part = filled.part
    y, ids = (None if a is None else a[rows] for a in (part.y, part.row_ids))
    some = FilledPart(
        replace(part, X=part.X[rows], y=y, row_ids=ids),
        filled.completed[rows],
        None if filled.variance is None else filled.variance[rows],
    )
    return (filler.table(some),)


def _write_part(filled: FilledPart, number: int, filler: Filler, folder: str) -> tuple[int]:
    write_part(filler.table(filled), Path(folder), number, filled.part.X.dtype)
    return (1,)
