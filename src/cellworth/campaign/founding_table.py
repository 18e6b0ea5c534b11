"""The table that a campaign was founded on: in the store, or in files of its own that are read in row blocks.

Whatever depends on which of the two it is, is behind `FoundingTable`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cellworth.campaign.campaign_events import TableMoved
from cellworth.campaign.cell_index import CellIndex
from cellworth.campaign.cell_values import CellsInMemory, CellValues
from cellworth.campaign.event_codec import check_optional_text
from cellworth.campaign.table_codec import pack, unpack
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import by_door, setting
from cellworth.table import Table, as_table
from cellworth.table.encoded import refuse_huge
from cellworth.table.read_options import ReadOptions
from cellworth.table.unmeasured_column import check_prior

if TYPE_CHECKING:
    from cellworth.campaign.budget_and_prices import BudgetAndPrices
    from cellworth.campaign.choosing import Chooser
    from cellworth.campaign.current_cells import CellWorths
    from cellworth.campaign.log import Log
    from cellworth.campaign.rounds import Rounds
    from cellworth.prices import Prices
    from cellworth.strategy import Strategy
    from cellworth.strategy.auto_choice import StrategyChoice

REFERENCE_MARK = b'{"row blocks":'
"""How the record of a founding table in row blocks begins, once it is decompressed."""


class FoundingTable(Protocol):
    """What a campaign needs of the table that it was founded on."""

    @property
    def table(self) -> Any:
        """The table itself: a `Table`, or a `BlockTable`, whose files must be there."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""

    @property
    def row_id(self) -> str | None:
        """The column that the row ids come from; None if rows are numbered."""

    @property
    def n_known(self) -> int:
        """How many of its cells are known."""

    @property
    def read_options(self) -> ReadOptions | None:
        """How its file was written; None if that is not known."""

    def begin(self, prices: Prices, strategy: Strategy, seed: int) -> StrategyChoice | None:
        """Check that a campaign can begin on it; return what an open strategy has chosen on it."""

    def check_prices(self, prices: Prices, now: Any) -> None:
        """Raise DataError if a cell of the table as it is now has no price by these."""

    def pack(self) -> bytes:
        """Return it as bytes, for the campaign's record: itself, or a reference."""

    def index(self) -> CellIndex:
        """Return its rows and columns by name."""

    def cells(self, index: CellIndex) -> CellValues:
        """Return its cells, to be changed by events."""

    def adviser(self, strategy: Strategy, seed: int) -> Any:
        """Return what runs a strategy through its rounds: an `Adviser` or a `BlockAdviser`."""

    def chooser(self, log: Log, in_force: BudgetAndPrices) -> Chooser:
        """Return what chooses the cells to ask for."""

    def worths(self, log: Log, in_force: BudgetAndPrices, make_rounds: Callable[[], Rounds]) -> CellWorths:
        """Return what says what its cells are worth and cost."""

    def assessed(self, log: Log) -> Any:
        """Return the log to assess the campaign by: of all rows, or of a sample of them."""

    @property
    def place(self) -> Path | None:
        """Where it is now, as far as the log says, if it is in files of its own."""

    def moved(self, path: str, number: int) -> None:
        """Note that an event says where the table is, if it is in files of its own."""

    def check_at(self, path: Path | None, *, thorough: bool = False) -> None:
        """Raise DataError if the table at a path is not the one of the start; reads it if ``thorough``."""


class FoundingInMemory:
    """A table that is kept in the store; see `FoundingTable`."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.shape[0]

    @property
    def row_id(self) -> str | None:
        """The column that the row ids come from; None if rows are numbered."""
        return self.table.row_id

    @property
    def n_known(self) -> int:
        """How many of its cells are known."""
        return int((~self.table.holes).sum())

    @property
    def read_options(self) -> ReadOptions | None:
        """How its file was written; None if that is not known."""
        return self.table.read_options

    def begin(self, prices: Prices, strategy: Strategy, seed: int) -> StrategyChoice | None:
        """Check that a campaign can begin on it; return what an open strategy has chosen on it; O(n p)."""
        from cellworth.strategy.auto_choice import BuyingTask

        table = self.table
        for j in np.flatnonzero(table.holes.all(axis=0)):
            check_prior(table.columns[j], f"column {shorten(table.columns[j].name)}")
        refuse_huge(table.values, table.row_ids, table.columns)
        prices.on(table)  # fail now if a cell has no price
        if not strategy.is_open:
            return None
        return strategy.settled(BuyingTask.of(table, prices, seed)).choice

    def check_prices(self, prices: Prices, now: Table) -> None:
        """Raise DataError if a cell of the table as it is now has no price by these."""
        prices.on(now)

    def pack(self) -> bytes:
        """Return the whole table as bytes."""
        return pack(self.table)

    def index(self) -> CellIndex:
        """Return its rows and columns by name."""
        return CellIndex(self.table)

    def cells(self, index: CellIndex) -> CellValues:
        """Return its cells as arrays."""
        return CellsInMemory(self.table, index)

    def adviser(self, strategy: Strategy, seed: int) -> Any:
        """Return an `Adviser`."""
        from cellworth.strategy.choose_batch import Adviser

        return Adviser.of(strategy, self.table, seed=seed)

    def chooser(self, log: Log, in_force: BudgetAndPrices) -> Chooser:
        """Return what chooses from arrays."""
        from cellworth.campaign.choosing import ChooserInMemory

        return ChooserInMemory(log, in_force)

    def worths(self, log: Log, in_force: BudgetAndPrices, make_rounds: Callable[[], Rounds]) -> CellWorths:
        """Return what says it of arrays."""
        from cellworth.campaign.current_cells import WorthsInMemory

        return WorthsInMemory(log, in_force, make_rounds)

    def assessed(self, log: Log) -> Any:
        """Return the log itself: all rows are at hand."""
        return log

    @property
    def place(self) -> Path | None:
        """None: it is in the store."""
        return None

    def moved(self, path: str, number: int) -> None:
        """Refuse: the table is in the store."""
        raise DataError("the table of this campaign is in the store, and cannot be moved.")

    def check_at(self, path: Path | None, *, thorough: bool = False) -> None:
        """Do nothing: whoever reads the store checks its bytes."""


AnyFounding = Table | FoundingTable


def as_founding(original: AnyFounding) -> FoundingTable:
    """Return a founding table; a `Table` is one in memory."""
    return FoundingInMemory(original) if isinstance(original, Table) else original


def founded_on(given: Any, target: str | None) -> FoundingTable:
    """Return what the user gave as a founding table: in row blocks, if it is a `BlockTable`."""
    if not hasattr(given, "cell_blocks"):
        return FoundingInMemory(as_table(given, target=target))
    from cellworth.campaign.founding_blocks import FoundingBlocks

    own = None if given.target is None else given.target.name
    if target is not None and target != own:
        has = "no target" if own is None else f"the target {shorten(own)}"
        raise ParameterError(
            f"{setting('target', target)}: this table has {has}. Name the target when you open the table."
        )
    return FoundingBlocks.of(given)


def unpack_founding(packed: bytes, engine: Any = None) -> FoundingTable:
    """Return the founding table of a campaign's record; in row blocks, it is processed on an engine."""
    if _is_reference(packed):
        from cellworth.campaign.founding_blocks import FoundingBlocks

        return FoundingBlocks.unpack(packed, engine)
    return FoundingInMemory(unpack(packed))


def _is_reference(packed: bytes) -> bool:
    """Return whether the table of a campaign's record is a reference to row blocks."""
    try:
        return zlib.decompressobj().decompress(packed, len(REFERENCE_MARK)) == REFERENCE_MARK
    except zlib.error:
        return False


def in_memory(cells: CellValues) -> CellsInMemory:
    """Return cells that are in memory; ParameterError if they are in row blocks."""
    if isinstance(cells, CellsInMemory):
        return cells
    raise ParameterError(
        "this needs all cells of the campaign's table in memory, and the table is in row blocks: it is read "
        "where it is. Use ask, tell, status, rows and export; for the rest, start a campaign on some of its "
        f"rows{by_door(python=', as in Campaign.create(table.every(100), ...)', command_line='')}."
    )


class NewPlace:
    """Another path of a founding table in row blocks."""

    def __init__(self, founding: FoundingTable, path: str | Path, reason: str | None) -> None:
        self._founding, self._path = founding, Path(path).absolute()
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: Any, time: datetime) -> TableMoved | None:
        """Return the move; None if the table is known to be there. DataError if it is another table."""
        old = self._founding.place
        if old is None:
            raise ParameterError("the table of this campaign is in the store, and cannot be moved.")
        if old == self._path:
            return None
        self._founding.check_at(self._path, thorough=True)
        return TableMoved(str(old), str(self._path), self._reason)
