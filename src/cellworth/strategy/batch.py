"""A batch: the cells to buy, under the user's own names, in the order in which they were chosen."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from cellworth.messages import short_number
from cellworth.prices.currency import money_text
from cellworth.prices.money import add_up
from cellworth.shown_numbers import people_write, reworded
from cellworth.table.frames import frame_of_columns
from cellworth.table.write_csv import check_place, guard, write_lines
from cellworth.table.write_table import Library, html_table, usual_library

if TYPE_CHECKING:
    from cellworth.select import Selection
    from cellworth.strategy.auto_choice import StrategyChoice

_NUMBER = re.compile(r"(known only to ±|guessed to be |worth )(-?[\d.,]+(?:e[+-]\d+)?)(?![\w-])")


@dataclass(frozen=True)
class Purchase:
    """One cell to buy.

    Attributes
    ----------
    row : str
        The row's id, as the user gave it.
    column : str
    price : float
        What it adds to the bill when the batch is bought in order. A campaign reserves this amount.
    worth : float
        The strategy's score; comparable within one round, not across rounds or strategies.
    group : str or None
        The column's price group, such as one blood draw; cells in the same row and group come together.
    why : str or None
        A one-sentence explanation.
    until : datetime or None
        When the lease expires and the cell may be asked for again, in UTC; None for never. This and the
        following attributes are set only by campaigns.
    asked_by : str or None
        Who asked.
    holder : str or None
        Who has taken it to find its value; None if nobody has.
    held_until : datetime or None
        When others may take it, in UTC; None if nobody has it.
    """

    row: str
    column: str
    price: float
    worth: float
    group: str | None = None
    why: str | None = None
    until: datetime | None = None
    asked_by: str | None = None
    holder: str | None = None
    held_until: datetime | None = None


FIELDS = ("row", "column", "group", "price", "worth", "why", "until", "value")
"""The fields of a list of cells to buy; ``value`` is blank, for people to fill in."""
MOST_SHOWN = 20
"""Show this many cells; the rest is counted."""
NONE_LEFT = "No cell is left to ask for: all are known, out or refused."
"""The note of a batch that is empty whatever the money."""


class Batch(Sequence[Purchase]):
    """The cells to buy, in the order in which they were chosen, which is by chance if the strategy draws.

    A sequence of `Purchase`, and a table of them: a notebook shows it by row, each of which is one visit. It
    compares equal to a list or tuple of the same purchases.

    Parameters
    ----------
    purchases : iterable of Purchase
    choice : StrategyChoice, optional
        What the strategy chose on the table, and why; None if it leaves nothing open.
    row_labels : mapping of str to object, optional
        What `to_frame` shows for a row id, such as 7 for "7"; by default the id itself.
    library : {"pandas", "polars", "pyarrow"}, optional
        The library that `to_frame` uses by default; if None, the first that is installed.
    note : str, optional
        Why there is nothing to buy, shown in place of purchases.

    Examples
    --------
    >>> batch = Batch([Purchase("p1", "age", 0.1, 3.0), Purchase("p2", "age", 0.2, 1.0)])
    >>> len(batch), batch[0].row, batch.cost
    (2, 'p1', 0.3)
    >>> batch.cells
    [('p1', 'age'), ('p2', 'age')]
    >>> batch
    Batch of 2 cells in 2 rows for 0.30
    row  column  price  worth  why
    p1   age      0.10  3
    p2   age      0.20  1
    """

    def __init__(
        self,
        purchases: Iterable[Purchase] = (),
        choice: StrategyChoice | None = None,
        *,
        row_labels: Mapping[str, Any] | None = None,
        library: Library | None = None,
        note: str | None = None,
    ) -> None:
        self.purchases = tuple(purchases)
        self.choice = choice
        self.note = note
        self._row_labels = row_labels or {}
        self._library = library

    @classmethod
    def of(
        cls,
        selection: Selection,
        rows: Sequence[str],
        columns: Sequence[str],
        choice: StrategyChoice | None = None,
    ) -> Batch:
        """Name the cells of a selection by the row ids and column names of its table."""
        each = zip(
            selection.cells.tolist(), selection.prices.tolist(), selection.scores.tolist(), strict=True
        )
        return cls((Purchase(rows[i], columns[j], price, worth) for (i, j), price, worth in each), choice)

    @property
    def cost(self) -> float:
        """The total cost, in the currency of the prices; summed as decimals, so 0.1 + 0.2 is 0.3."""
        return float(add_up([purchase.price for purchase in self.purchases]))

    @property
    def worth(self) -> float:
        """The total worth."""
        return float(sum(purchase.worth for purchase in self.purchases))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The row id and column name of each purchase."""
        return [(purchase.row, purchase.column) for purchase in self.purchases]

    def by_row(self) -> dict[str, Batch]:
        """Return the purchases of each row, which is one visit; rows in the order of their first purchase."""
        rows: dict[str, list[Purchase]] = {}
        for purchase in self.purchases:
            rows.setdefault(purchase.row, []).append(purchase)
        return {row: self._like(purchases) for row, purchases in rows.items()}

    def to_frame(self, library: Library | None = None) -> Any:
        """Return one row per purchase: row, column, group, price, worth and why.

        In the library of the frame that was advised on, with its own labels of rows; otherwise in the first
        of pandas, polars and pyarrow that is installed. ``library`` asks for another one.
        """
        columns = {
            "row": [self._row_labels.get(each.row, each.row) for each in self.purchases],
            **{
                name: [getattr(each, name) for each in self.purchases]
                for name in ("column", "group", "price", "worth", "why")
            },
        }
        return frame_of_columns(columns, library or self._library or usual_library())

    def write(
        self, path: str | os.PathLike[str], *, delimiter: str | None = None, decimal: str = "."
    ) -> None:
        """Write a shopping list to a .csv, .tsv or .xlsx file, with a blank column ``value`` to fill in.

        Text has commas and decimal points, unless told otherwise. The file is replaced atomically. A campaign
        reads it back with `Campaign.tell_file`.
        """
        check_place(Path(path))
        with people_write(decimal):
            records = self.records()
        write_lines(Path(path), records, delimiter=delimiter, decimal=decimal)

    def records(self) -> list[Sequence[str]]:
        """Return the lines of `write`, header first, as fields safe to open in a spreadsheet."""
        return [FIELDS, *map(_record, self.purchases)]

    def __len__(self) -> int:
        return len(self.purchases)

    def __iter__(self) -> Iterator[Purchase]:
        return iter(self.purchases)

    @overload
    def __getitem__(self, which: int) -> Purchase: ...
    @overload
    def __getitem__(self, which: slice) -> Batch: ...
    def __getitem__(self, which: int | slice) -> Purchase | Batch:
        return self._like(self.purchases[which]) if isinstance(which, slice) else self.purchases[which]

    def __add__(self, more: Iterable[Purchase]) -> Batch:
        return self._like([*self.purchases, *more])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch | list | tuple):
            return NotImplemented
        return self.purchases == tuple(other)

    def __hash__(self) -> int:
        return hash(self.purchases)

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                text.rjust(width) if place == 2 else text.ljust(width)
                for place, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self._summary(), *(shown if self.purchases else []), *self._rest()])

    def _repr_html_(self) -> str:
        """Return the same as a table for notebooks."""
        header, *rows = self._lines()
        return html_table(self._summary(), header, rows, "".join(self._rest()))

    def _like(self, purchases: Iterable[Purchase]) -> Batch:
        kept: Any = {"row_labels": self._row_labels, "library": self._library, "note": self.note}
        return Batch(purchases, self.choice, **kept)

    def _summary(self) -> str:
        n, rows = len(self), len({purchase.row for purchase in self.purchases})
        cells, visits = (f"{k} {noun}{'s' if k != 1 else ''}" for k, noun in ((n, "cell"), (rows, "row")))
        return f"Batch of {cells} in {visits} for {self.cost:.2f}"

    def _lines(self) -> list[list[str]]:
        """Return the header and the first purchases, those of a row together under its id."""
        lines = [["row", "column", "price", "worth", "why"]]
        for row, visit in self.by_row().items():
            for place, each in enumerate(visit):
                name = row if place == 0 else ""
                lines.append(
                    [name, each.column, f"{each.price:.2f}", short_number(each.worth, 3), each.why or ""]
                )
            if len(lines) > MOST_SHOWN:
                break
        return lines[: MOST_SHOWN + 1]

    def _rest(self) -> list[str]:
        if not self.purchases and self.note is not None:
            return [self.note]
        return [f"... and {len(self) - MOST_SHOWN} more"] if len(self) > MOST_SHOWN else []


def shown_reason(why: str) -> str:
    """Return the reason of a purchase, which is recorded in English, with numbers as people here write them.

    >>> from cellworth.shown_numbers import people_write
    >>> with people_write(","):
    ...     shown_reason("known only to ±2.3 mg/1.5 l; worth 3.5 times the average hole")
    'known only to ±2,3 mg/1.5 l; worth 3,5 times the average hole'
    """
    return _NUMBER.sub(lambda found: found[1] + reworded(found[2]), why)


def why_nothing(cheapest: float, budget: float | None, currency: str | None) -> str | None:
    """Say why a budget buys nothing: no cell is left, or the cheapest costs more; None if it buys one.

    >>> why_nothing(2.0, 1.0, "EUR")
    'No cell that is left costs less than 2.00 EUR, and only 1.00 EUR can be spent.'
    >>> why_nothing(math.inf, 1.0, "EUR")
    'No cell is left to ask for: all are known, out or refused.'
    """
    if cheapest == math.inf:
        return NONE_LEFT
    if budget is None or not budget < cheapest:
        return None
    price, money = (money_text(amount, currency) for amount in (cheapest, budget))
    return f"No cell that is left costs less than {price}, and only {money} can be spent."


def _record(purchase: Purchase) -> list[str]:
    until = "" if purchase.until is None else purchase.until.isoformat(timespec="seconds")
    texts = map(guard, (purchase.row, purchase.column, purchase.group or ""))
    price, why = repr(float(purchase.price)), guard(shown_reason(purchase.why or ""))
    return [*texts, price, f"{purchase.worth:.6g}", why, until, ""]
