"""Say in one sentence why a cell is bought: what is known of it, its worth for its price, and chance.

The price itself is not repeated: wherever there is room for a reason, it is beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.messages import short_number, shorten
from cellworth.prices import PriceList
from cellworth.select import Draw, Selection, Top
from cellworth.select.selector import Selector
from cellworth.shown_numbers import in_english
from cellworth.table import Column, ColumnLayout
from cellworth.table.column import MEASURED


@dataclass(frozen=True)
class WorthOnOffer:
    """How many cells are on offer, what they are worth and cost alone; parts can be added."""

    cells: int
    worth: float
    money: float
    cheapest: float
    dearest: float

    @classmethod
    def of(cls, worth: Float64Array, alone: Float64Array) -> WorthOnOffer:
        """Return the totals of cells with these worths and prices, (k,) each."""
        ends = float(alone.min(initial=np.inf)), float(alone.max(initial=-np.inf))
        return cls(len(worth), float(worth.sum()), float(alone.sum()), *ends)

    def added(self, other: WorthOnOffer) -> WorthOnOffer:
        """Return the totals of both."""
        return WorthOnOffer(
            self.cells + other.cells,
            self.worth + other.worth,
            self.money + other.money,
            min(self.cheapest, other.cheapest),
            max(self.dearest, other.dearest),
        )


class Reasons:
    """The reasons for the cells of one round's batches.

    The worth of a cell is compared with what decided: its worth per unit of money, unless the selector looks
    at worth alone or all cells cost the same. Where cells share fees, a row is compared as a whole.

    Parameters
    ----------
    columns : sequence of Column
        Without the target; if labels can be bought, they are one column more, the last of the p.
    completer : estimator
        Fitted in this round to the table, encoded by these columns.
    scores : (m, p) array
        The worth of the cells of the m first rows; those of later rows have none yet.
    selector : Selector
        What chose the cells.
    prices : PriceList
        Of (n, p) cells, n >= m.
    available, before : (n, p) arrays of bool
        The cells that could be bought, and those known before.
    on_offer : WorthOnOffer, optional
        What all cells on offer are worth, if these are some of them.
    unmeasured : (p,) array of bool, optional
        Columns without a known value, likewise.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        completer: Any,
        scores: Float64Array,
        selector: Selector,
        *,
        prices: PriceList,
        available: BoolArray,
        before: BoolArray,
        on_offer: WorthOnOffer | None = None,
        unmeasured: BoolArray | None = None,
    ) -> None:
        self._unmeasured = np.asarray(~before.any(axis=0)) if unmeasured is None else unmeasured
        self._before = before
        self._layout = ColumnLayout(tuple(columns))
        self._completer = completer
        if on_offer is None:  # labels may have a price but no score, or no price now
            width = min(scores.shape[1], available.shape[1])
            offered = available[: len(scores), :width]
            alone = prices.marginal(before)[: len(scores), :width]
            on_offer = WorthOnOffer.of(scores[:, :width][offered], alone[offered])
        by_worth = isinstance(selector, Top) or (isinstance(selector, Draw) and selector.per == "score")
        self._per_money = not by_worth and on_offer.cheapest < on_offer.dearest
        self._by_row = self._per_money and not prices.additive
        money = on_offer.money if self._per_money else on_offer.cells
        self._average = on_offer.worth / money if on_offer.cells else 0.0

    def of(self, selection: Selection) -> list[str]:
        """Return one sentence for each cell of a selection; O(cells)."""
        cells, prices, worths = selection.cells, selection.prices, selection.scores
        compared = worths / prices if self._per_money else worths
        if self._by_row:
            rows, row = np.unique(cells[:, 0], return_inverse=True)
            sums = (np.bincount(row, weights=each, minlength=len(rows)) for each in (worths, prices))
            compared = np.divide(*sums)[row]
        luck = self._luck(selection)
        with in_english():  # campaigns record them
            return [
                self._what(int(i), int(j), float(ratio), luck)
                for (i, j), ratio in zip(cells.tolist(), compared.tolist(), strict=True)
            ]

    def _luck(self, selection: Selection) -> str:
        """Say what chance struck; cells that share fees are drawn with their row in any case."""
        if selection.drawn is None:
            return ""
        return "drawn with its row, " if selection.drawn == "row" or self._by_row else "drawn by chance, "

    def _what(self, row: int, place: int, compared: float, luck: str) -> str:
        if place == len(self._layout.columns):
            return self._label(row) + self._much(compared, luck="")  # no chance among labels
        if self._unmeasured[place]:
            return "nobody has measured this column yet, so some of it comes first"
        return self._guess(row, place) + self._much(compared, luck)

    def _much(self, compared: float, luck: str) -> str:
        if not self._average > 0:
            return ""
        who = "which is worth" if self._by_row and luck else "worth"
        money = " for its price" if self._per_money else ""
        return f"; {luck}{who} {short_number(compared / self._average)} times the average hole{money}"

    def _label(self, row: int) -> str:
        """Describe what is known of a row without a label."""
        known, columns = int(self._before[row, :-1].sum()), len(self._layout.columns)
        return f"its label is missing, and {known} of its {columns} cells are known"

    def _guess(self, row: int, place: int) -> str:
        """Describe the current guess for a cell; ± is one standard deviation."""
        column, block = self._layout.columns[place], self._layout.columns_of(place)
        filled = np.asarray(self._completer.completed_[row, block], dtype=np.float64)
        if column.kind in MEASURED:
            unit = {"date": " days"}.get(column.kind, "" if column.unit is None else f" {column.unit}")
            variance = getattr(self._completer, "variance_", None)
            if variance is not None:
                return f"known only to ±{short_number(float(np.sqrt(variance[row, block.start])))}{unit}"
            if column.kind != "date":
                return f"guessed to be {short_number(float(filled[0]), 3)}{unit}"
        best = float(np.argmax(filled)) if len(filled) > 1 else float(column.nearest(filled)[0])
        return f"guessed to be {shorten(column.format(best))}"
