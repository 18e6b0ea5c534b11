"""What a strategy is chosen for: a table with holes, its labels and its prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.prices import PriceList, Prices
from cellworth.table import ColumnLayout, Table
from cellworth.table.target import LabelKind


@dataclass(frozen=True, eq=False)
class BuyingTask:
    """A table at the start of its purchases.

    Attributes
    ----------
    X : (n, d) array
        The encoded table, NaN in its holes.
    y : (n,) array or None
        The labels, NaN where missing.
    layout : ColumnLayout
        The cell that each column of X belongs to.
    target : {"classes", "number"} or None
    prices : PriceList
        Of the n x p cells, known or not; not of labels.
    seed : int
    in_blocks : bool
        Whether these are some rows of a table in row blocks, on which not every part runs.
    """

    X: Float64Array
    y: Float64Array | None
    layout: ColumnLayout
    target: LabelKind | None
    prices: PriceList
    seed: int
    in_blocks: bool = False

    @classmethod
    def of(cls, table: Table, prices: Prices | None, seed: int) -> BuyingTask:
        """Return the task of a table; without prices every cell costs 1."""
        return cls(
            table.encode(prior=True).X,
            table.y,
            table.layout,
            None if table.target is None else table.target.label_kind,
            (prices or Prices.same(1.0)).on(table).of_cells(),
            seed,
        )

    @property
    def is_number(self) -> bool:
        """Whether the target is a number."""
        return self.target == "number"

    @property
    def known(self) -> BoolArray:
        """The known cells, (n, p)."""
        return self.layout.known(self.X)

    @property
    def labelled(self) -> IntArray:
        """The rows with a label."""
        return np.zeros(0, dtype=np.intp) if self.y is None else np.flatnonzero(~np.isnan(self.y))
