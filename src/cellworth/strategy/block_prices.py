"""Prices of the cells of some rows of a table in row blocks, and of their labels if they have one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.row_source import Part
from cellworth.complete.labels import unlabelled_rows
from cellworth.errors import DataError
from cellworth.prices import PriceList, Prices
from cellworth.prices.cell_prices import (
    ByCell,
    ByColumn,
    ByFunction,
    ByMatrix,
    check_known,
    check_price,
    in_words,
)
from cellworth.prices.prices import with_target_column
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
    target : str or None
        The name of the labels' column, if labels have a price: then it is the last of the p.
    """

    base: PriceList
    layout: ColumnLayout
    matrix: Float64Array | None
    function: Callable[[str, str], float] | None
    rows: IntArray
    columns: IntArray
    own: Float64Array
    target: str | None = None

    @classmethod
    def of(cls, prices: Prices, table: BlockTable) -> BlockPrices:
        """Apply prices to a table; DataError names a column or row that is not there."""
        rule = prices.cells
        target = table.target if prices.sells_labels(table) else None
        names = table.column_names if target is None else (*table.column_names, target.name)
        grouped = {column for group in prices.groups for column in group.columns}
        none = np.zeros(0, dtype=np.intp)
        found = none, none, np.zeros(0)
        matrix, function, by_column = None, None, rule
        if isinstance(rule, ByCell):
            found = _cells(rule, table, names)
            by_column = _rest(rule.default, found[1], table.n_rows, names, grouped)
        elif isinstance(rule, ByMatrix):
            if rule.prices.shape != (table.n_rows, len(names)):
                raise DataError(
                    f"the matrix of prices must have the shape {table.shape} of the table's rows and "
                    f"columns; got {rule.prices.shape}. One more column prices the labels, if the table has "
                    "a target."
                )
            matrix, by_column = rule.prices, ByColumn(_each(names, grouped), 1.0)
        elif isinstance(rule, ByFunction):
            function, by_column = rule.function, ByColumn(_each(names, grouped), 1.0)
        hole = np.full((1, len(table.columns)), np.nan)
        label = None if target is None else replace(target, values=np.full(1, np.nan))
        row = Table(table.columns, hole, ("0",), label)
        by_column.lay(
            row if target is None else with_target_column(row), grouped
        )  # is there a price of each?
        base = replace(prices, cells=by_column).on(row)
        return cls(base, table.layout, matrix, function, *found, None if target is None else target.name)

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

    @property
    def least_alone(self) -> float:
        """What no cell is below as the only one of a batch, with its visit and a fee that is always due.

        0 if a function says the prices. O(n p) for a matrix of prices, otherwise O(p + k).
        """
        if self.function is not None:
            return 0.0
        own, free = self.base.own[0].copy(), self.base.group_of < 0
        if self.matrix is not None:
            own[free] = self.matrix.min(axis=0)[free]
        np.minimum.at(own, self.columns, self.own)
        opened = np.ones((1, len(own)), dtype=bool)  # all groups that stay open
        return float(replace(self.base, own=own[np.newaxis]).marginal(opened).min())

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

    @property
    def alone(self) -> PricesAlone:
        """What each numeric column and each label costs alone, for scorers."""
        return PricesAlone(self)

    def _called(self, part: Part, own: Float64Array, free: BoolArray) -> Float64Array:
        assert self.function is not None
        assert part.row_ids is not None
        own = own.copy()
        holes = ~self.layout.known(np.asarray(part.X, dtype=np.float64))
        names = [column.name for column in self.layout.columns]
        if self.target is not None:
            holes, names = np.column_stack([holes, unlabelled_rows(part)]), [*names, self.target]
        for i, j in np.argwhere(holes & free).tolist():
            row, column = str(part.row_ids[i]), names[j]
            what = f"the price that the function gives for {in_words(row, column)}"
            own[i, j] = check_price(self.function(row, column), what, DataError)
        return own


@dataclass(frozen=True, eq=False)
class PricesAlone:
    """What cells and labels cost alone; see `PartPrices`."""

    prices: BlockPrices

    @property
    def sells_labels(self) -> bool:
        """Whether labels can be bought."""
        return self.prices.target is not None

    def __call__(self, part: Part) -> Float64Array:
        """Return what each numeric column (m, d) costs."""
        return self.prices.layout.share_by_column(self.prices.on(part).of_cells().alone)

    def of_labels(self, part: Part) -> Float64Array:
        """Return what each label (m,) costs."""
        return self.prices.on(part).alone[:, -1]


def _each(names: Collection[str], grouped: Collection[str]) -> dict[str, float]:
    """Return a price for each column outside groups, where it does not matter which."""
    return {name: 1.0 for name in names if name not in grouped}


def _rest(
    default: ByColumn, columns: IntArray, n_rows: int, names: Sequence[str], grouped: Collection[str]
) -> ByColumn:
    """Return the prices of cells that have none of their own, given the columns of those that have.

    A column all of whose cells have a price of their own needs no other; labels are for sale by name.
    """
    stated = np.bincount(columns, minlength=len(names))
    full = _each([name for name, count in zip(names, stated, strict=True) if count == n_rows], grouped)
    rest = {} if default.default is None else dict.fromkeys(names, default.default)
    rest = {name: price for name, price in rest.items() if name not in grouped}
    return replace(default, prices=full | rest | dict(default.prices))


def _cells(rule: ByCell, table: BlockTable, names: Sequence[str]) -> tuple[IntArray, IntArray, Float64Array]:
    """Return the cells that have a price of their own, sorted by row."""
    check_known({column for _, column in rule.prices}, tuple(names), "the prices")
    place = {name: number for number, name in enumerate(names)}
    columns = np.array([place[column] for _, column in rule.prices], dtype=np.intp)
    try:
        rows = table.row_numbers([row for row, _ in rule.prices])
    except DataError as error:
        raise DataError(f"the prices: {error}") from None
    order = np.argsort(rows, kind="stable")
    own = np.array(list(rule.prices.values()), dtype=np.float64)
    return rows[order], columns[order], own[order]
