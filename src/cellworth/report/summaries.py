"""What all summaries share: JSON conversion, display-safe text, and inputs that are computed once.

A summary describes a campaign as of one event. The command line, the report, REST and the pages show the same
summaries. They cost completions, so servers compute them in a separate process.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, FloatArray
from cellworth.campaign import Campaign, CellArrays, Status
from cellworth.campaign.campaign_events import Extended, PricesChanged
from cellworth.campaign.cell_events import Asked, Cancelled, Corrected, Refused, Told
from cellworth.campaign.event_codec import Event
from cellworth.report.fill_errors import FillError, fill_errors
from cellworth.table import Table, as_table

if TYPE_CHECKING:
    from cellworth.campaign.worth_totals import WorthTotals
    from cellworth.complete import FilledTable
    from cellworth.complete.filled_blocks import FilledBlocks

T = TypeVar("T")

UNKNOWN_ERROR = 0.5
"""The uncertainty shown for an estimate if the completer reports none."""
# HTML and SVG forbid control characters, and UTF-8 lone surrogates; bidirectional controls would affect the
# text around them.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)


@dataclasses.dataclass(frozen=True)
class Summary:
    """Base class of summaries; all attributes can be passed to `to_json`.

    Attributes
    ----------
    as_of : int
        The number of the event that it describes.
    """

    as_of: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data; see `to_json`."""
        data: dict[str, Any] = _fields_to_json(self)
        return data


def to_json(value: Any) -> Any:
    """Return data made of dicts, lists, strings, booleans and finite numbers; NaN and infinity become None.

    Also accepts arrays, NumPy scalars, dataclasses and dates, at any depth. O(size).

    Examples
    --------
    >>> to_json({"a": np.array([1.0, np.nan]), "b": np.int64(3)})
    {'a': [1.0, None], 'b': 3}
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Status):
        return to_json(value.to_json())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields_to_json(value)
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def clean(text: str) -> str:
    r"""Replace each character that a page cannot hold with U+FFFD.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return _UNFIT.sub("\ufffd", text)


def short_name(name: str, most: int = 24) -> str:
    """Return a name on one line, short enough to label an axis."""
    name = clean(" ".join(name.split()))
    return name if len(name) <= most else f"{name[: most - 1]}…"


class SummaryInputs:
    """A campaign frozen at one event, and the inputs that several summaries share.

    Costly inputs are computed on first use. They depend only on the table and on refusals, and `renew` keeps
    them until one of these changes.

    Attributes
    ----------
    view : Campaign
        A replay up to the event.
    number : int
        The number of the event.
    changed : int
        The number of the last event that changed the table or refused a cell.
    last_ask : Event or None
        The newest ask.
    answered_round : int or None
        The newest round with an answer.
    answered_since : int
        The number of the last event before that round; 0 without an answer.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._kept: dict[str, tuple[object, Any]] = {}
        self._round = self._round_since = 0
        self._asked: set[tuple[str, str]] = set()
        self.last_ask: Event | None = None
        self.answered_round: int | None = None
        self.answered_since = 0
        self.number = self.changed = 0
        self._advance(campaign)

    def renew(self, campaign: Campaign) -> None:
        """Advance to the newest event; O(new events + n p)."""
        if campaign.number != self.number:
            self._advance(campaign)

    def once(self, what: str, key: object, compute: Callable[[], T]) -> T:
        """Return ``compute()``, cached by key; only the last result of each ``what`` is kept."""
        if what not in self._kept or self._kept[what][0] != key:
            self._kept[what] = key, compute()
        result: T = self._kept[what][1]
        return result

    @property
    def on_blocks(self) -> bool:
        """Whether the table is in row blocks: then what follows of whole tables raises ParameterError."""
        return not isinstance(self.view.table, Table)

    @property
    def totals(self) -> WorthTotals:
        """What all cells are worth and cost, by column; those asked for may be of an earlier event."""
        return self.once("totals", self.changed, lambda: self.view.worths.totals())

    @property
    def filled_blocks(self) -> FilledBlocks | None:
        """The filled table in row blocks, with intervals; None if no cell is missing."""
        if not self.view.table.n_holes:
            return None
        found: Any = self.once("filled", self.changed, self.view.fill)
        return found

    @property
    def table(self) -> Table:
        """The table with the answers so far; raises ParameterError if it is in row blocks."""
        return self.once("table", self.number, lambda: as_table(self.view.table))

    @property
    def n_asked(self) -> int:
        """How many cells and labels are asked for, even if their leases have expired."""
        return len(self._asked)

    @property
    def cells(self) -> CellArrays:
        """The cells as arrays, with prices and worths, without labels; see `Campaign.cells`."""
        return self.once("cells", self.changed, lambda: self.on_sale.of_columns(self.table.shape[1]))

    @property
    def on_sale(self) -> CellArrays:
        """The same, with the labels as the last column if they have a price."""
        return self.once("on sale", self.changed, self.view.cells)

    @property
    def filled(self) -> FilledTable | None:
        """The filled table, with intervals; None if no cell is missing."""
        if not self.table.holes.any():
            return None
        return self.once("filled", self.changed, self.view.fill)

    @property
    def knows_uncertainty(self) -> bool:
        """Whether the completer reports its uncertainty; True if there is nothing to guess."""
        if self.on_blocks:
            blocks = self.filled_blocks
            return blocks is None or blocks.completer.completed_.has_variance
        return self.filled is None or self.filled.variance is not None

    @property
    def unsure(self) -> Float64Array:
        """The uncertainty of each cell, (n, p); see `uncertainty`."""
        return self.once("unsure", self.changed, lambda: uncertainty(self.table, self.filled))

    @property
    def fill_errors(self) -> list[FillError | None]:
        """How well each column is filled; of row blocks, in a sample of the rows."""
        completer, table = self.view.settled.completer, self.view.assessment.table
        return self.once("fill errors", self.changed, lambda: fill_errors(table, completer))

    @property
    def status(self) -> Status:
        """The status, with the money and the open cells of this event."""
        status = self.once("status", self.changed, self.view.status)
        return dataclasses.replace(status, **vars(self.view.totals()))

    @property
    def average_worth(self) -> float:
        """The mean worth of the cells that can be bought, the unit of displayed worths; 1 if it is 0."""
        return self.once("average worth", self.changed, self._average_worth)

    @property
    def asked(self) -> BoolArray:
        """(n, p) bool: the cells asked for, even if their leases have expired."""
        return self.once("asked", self.number, self._asked_cells)[:, : self.table.shape[1]]

    @property
    def asked_labels(self) -> int:
        """How many labels are asked for, even if their leases have expired."""
        asked = self.once("asked", self.number, self._asked_cells)
        return int(asked[:, self.table.shape[1] :].sum())

    def _advance(self, campaign: Campaign) -> None:
        number = campaign.number
        self.view = campaign.replay(number)
        self._follow(self.view.events(after=self.number))
        self.number = number

    def _follow(self, events: Iterable[Event]) -> None:
        for event in events:
            content = event.content
            if isinstance(content, Told | Refused | Corrected | Extended | PricesChanged):
                self.changed = event.number
            if isinstance(content, Asked):
                self.last_ask = event
                self._asked.update((cell.row, cell.column) for cell in content.cells)
                if content.round > self._round:
                    self._round, self._round_since = content.round, event.number - 1
            elif isinstance(content, Told | Refused | Cancelled):
                self._asked.difference_update((cell.row, cell.column) for cell in content.cells)
            if isinstance(content, Told):
                self.answered_round, self.answered_since = self._round, self._round_since

    def _average_worth(self) -> float:
        if self.on_blocks:
            return self.totals.average_worth
        available = self.on_sale.available
        return float(self.on_sale.worth[available].mean()) or 1.0 if available.any() else 1.0

    def _asked_cells(self) -> BoolArray:
        rows = {row: place for place, row in enumerate(self.table.row_ids)}
        target = () if self.table.target is None else (self.table.target.name,)
        columns = {name: place for place, name in enumerate((*self.table.column_names, *target))}
        asked = np.zeros((len(rows), len(columns)), dtype=bool)
        for row, column in self._asked:
            asked[rows[row], columns[column]] = True
        return asked


def uncertainty(table: Table, filled: FilledTable | None) -> Float64Array:
    """Return the uncertainty of each cell, (n, p): 0 if known, 1 if its row tells nothing about it.

    This is the remaining standard deviation divided by that of the column's known cells.
    """
    if filled is None:
        return np.zeros(table.shape)
    if filled.variance is None:
        return shares(None, np.ones(table.shape[1]), table.holes)
    encoded = table.encode(prior=True)
    starts = np.searchsorted(encoded.owner, np.arange(table.shape[1]))
    spread = np.add.reduceat(np.nanvar(encoded.X, axis=0), starts)
    return shares(filled.variance, spread, table.holes)


def shares(variance: FloatArray | None, spread: Float64Array, holes: BoolArray) -> Float64Array:
    """Return the uncertainty of cells (..., p), given their variance and that of their columns (p,)."""
    if variance is None:
        return np.where(holes, UNKNOWN_ERROR, 0.0)
    share = np.sqrt(np.divide(variance, spread, out=np.zeros(variance.shape), where=spread > 0))
    return np.clip(share, 0.0, 1.0)


_INPUTS: WeakKeyDictionary[Campaign, SummaryInputs] = WeakKeyDictionary()


def inputs_of(campaign: Campaign) -> SummaryInputs:
    """Return the summary inputs of a campaign as of its newest event; cached for the next call.

    O(n p + new events) after a new event, O(1) otherwise.
    """
    inputs = _INPUTS.get(campaign)
    if inputs is None:
        inputs = _INPUTS[campaign] = SummaryInputs(campaign)
    else:
        inputs.renew(campaign)
    return inputs


def _fields_to_json(value: Any) -> dict[str, Any]:
    return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
