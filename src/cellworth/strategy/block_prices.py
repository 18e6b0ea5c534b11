"""Prices of the cells of some rows of a table in row blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.row_source import Part
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.prices import PriceList, Prices
from cellworth.prices.rules import ByCell, ByColumn, ByFunction, ByMatrix, check_price, in_words
from cellworth.table import ColumnLayout, Table


@dataclass(frozen=True, eq=False)
class BlockPrices:
    """The price list of a table, of which each block makes its own part.

    Attributes
    ----------
    base : PriceList
        Of one row: prices by column, groups and the visit.
    layout : ColumnLayout
    matrix : (n, p) array or None
        Prices of all cells, if they are given as a matrix.
    function : callable or None
        Prices by row id and column name; called for holes outside groups.
    rows, columns, own : (k,) arrays
        Cells with a price of their own, sorted by row.
    """

    base: PriceList
    layout: ColumnLayout
    matrix: Float64Array | None
    function: Callable[[str, str], float] | None
    rows: IntArray
    columns: IntArray
    own: Float64Array

    @classmethod
    def of(cls, prices: Prices, table: BlockTable) -> BlockPrices:
        """Apply prices to a table; DataError names a column or row that is not there."""
        rule = prices.cells
        target = None if table.target is None else table.target.name
        grouped = any(target in group.columns for group in prices.groups)
        named = target is not None and target in rule.named_columns
        if target is not None and (named or grouped or getattr(rule, "labels", False)):
            raise ParameterError(
                f"labels can be bought in tables in memory only; the prices name the target "
                f"{shorten(target)}. Leave it out, or use a table that fits in memory."
            )
        none = np.zeros(0, dtype=np.intp)
        found = none, none, np.zeros(0)
        matrix, function, by_column = None, None, rule
        if isinstance(rule, ByCell):
            by_column, found = rule.default, _cells(rule, table)
        elif isinstance(rule, ByMatrix):
            if rule.prices.shape != table.shape:
                raise DataError(
                    f"the matrix of prices must have the shape {table.shape} of the table's rows and "
                    f"columns; got {rule.prices.shape}."
                )
            matrix, by_column = rule.prices, ByColumn({}, 1.0)
        elif isinstance(rule, ByFunction):
            function, by_column = rule.function, ByColumn({}, 1.0)
        one_row = Table(table.columns, np.full((1, len(table.columns)), np.nan), ("0",))
        base = replace(prices, cells=by_column).on(one_row)
        return cls(base, table.layout, matrix, function, *found)

    @property
    def needs_ids(self) -> bool:
        """Whether blocks must bring their row ids."""
        return self.function is not None

    @property
    def least(self) -> float:
        """A price that no cell is below; 0 if a function says the prices."""
        if self.function is not None:
            return 0.0
        own = self.base.own if self.matrix is None else self.matrix
        return float(min(own.min(), self.own.min(initial=np.inf)))

    def on(self, part: Part) -> PriceList:
        """Return the prices of the cells of some rows."""
        m, p = len(part.X), self.base.own.shape[1]
        own = np.broadcast_to(self.base.own, (m, p))
        free = self.base.group_of < 0
        if self.matrix is not None:
            own = np.where(free, self.matrix[part.start : part.start + m], own)
        if self.function is not None:
            own = self._called(part, own, free)
        first, last = np.searchsorted(self.rows, [part.start, part.start + m])
        if last > first:
            own = own.copy()
            own[self.rows[first:last] - part.start, self.columns[first:last]] = self.own[first:last]
        return replace(self.base, own=own)

    def alone(self, part: Part) -> Float64Array:
        """Return what each numeric column (m, d) costs alone: see ``Round.prices``."""
        return self.layout.share_by_column(self.on(part).alone)

    def _called(self, part: Part, own: Float64Array, free: BoolArray) -> Float64Array:
        assert self.function is not None
        assert part.row_ids is not None
        own = own.copy()
        holes = ~self.layout.known(np.asarray(part.X, dtype=np.float64)) & free
        for i, j in np.argwhere(holes).tolist():
            row, column = str(part.row_ids[i]), self.layout.columns[j].name
            what = f"the price that the function gives for {in_words(row, column)}"
            own[i, j] = check_price(self.function(row, column), what, DataError)
        return own


def _cells(rule: ByCell, table: BlockTable) -> tuple[IntArray, IntArray, Float64Array]:
    """Return the cells that have a price of their own, sorted by row."""
    try:
        columns = np.array([table.column_index(column) for _, column in rule.prices], dtype=np.intp)
        rows = table.row_numbers([row for row, _ in rule.prices])
    except DataError as error:
        raise DataError(f"the prices: {error}") from None
    order = np.argsort(rows, kind="stable")
    own = np.array(list(rule.prices.values()), dtype=np.float64)
    return rows[order], columns[order], own[order]
