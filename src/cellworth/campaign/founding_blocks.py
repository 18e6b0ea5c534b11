"""A founding table that stays in its own files: where it is, what is in it, and a sample of its rows.

The store keeps a reference: the path of the table, the SHA-256 of each of its files, how its cells are read,
and every k-th row. Nothing else of the table is ever copied or held in memory. The files must stay as they
are; if they are moved, `Campaign.move_table` says where they are now.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.cell_rules import CellRules
from cellworth.blocks.file_content import TableContent
from cellworth.blocks.open_table import stored_table
from cellworth.blocks.row_sample import RowSample
from cellworth.blocks.thread_engine import on_threads
from cellworth.campaign.cell_index import CellIndex
from cellworth.campaign.cell_values import CellValues
from cellworth.campaign.cells_on_blocks import CellsOnBlocks, RowsOnBlocks
from cellworth.campaign.table_codec import (
    column_to_plain,
    pack,
    target_from_plain,
    target_to_plain,
    unpack,
)
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import by_door
from cellworth.table import Table
from cellworth.table.column import Column
from cellworth.table.encoded import refuse_huge
from cellworth.table.missing_marks import MissingMarks
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

FORMAT = 1


@dataclass(eq=False)
class FoundingBlocks:
    """A founding table in files of its own, read in row blocks; see `FoundingTable`.

    Attributes
    ----------
    path : Path
        Where the table was when the campaign began.
    labels : Path or None
        Where its labels were, if they are in an array of their own.
    names : list of str
        The columns of the files that are used.
    content : tuple of TableContent
        Of the table, and of the labels if they are apart.
    about : dict
        How cells are read, and how many are known.
    sample : Table
        Every ``every``-th row of it.
    engine : Engine or None
        Where its blocks are processed, by default on threads of this process.
    """

    path: Path
    labels: Path | None
    names: list[str]
    content: tuple[TableContent, ...]
    about: dict[str, Any]
    sample: Table
    every: int
    engine: Any = None
    _now: tuple[int, Path] | None = field(default=None, repr=False)  # the last event that moved it
    _table: BlockTable | None = field(default=None, repr=False)

    @classmethod
    def of(cls, table: BlockTable) -> Self:
        """Describe a table that is in files; a pass for the sample, and one over the bytes of the files."""
        path, labels = _places(table)
        if table.learned is not None:
            raise ParameterError("a campaign begins with the cells of its files, and this table has others.")
        rules = table.rules
        about = {
            "rows": table.n_rows,
            "columns": [column_to_plain(column) for column in table.columns],
            "target": None if table.target is None else target_to_plain(table.target),
            "row_id": table.row_id,
            "marks": {name: _marks_to_plain(marks) for name, marks in rules.marks.items()},
            "date_format": rules.date_format,
            "name": rules.name,
            "known": table.known.tolist(),
            "labelled": table.labelled,
            "fineness": list(table.fineness),
        }
        names = list(table.stored.columns)
        content = tuple(TableContent.of(each) for each in (path, labels) if each is not None)
        sample = RowSample.of(table)
        kept = sample.table, sample.every, table.engine
        return cls(path, labels, names, content, about, *kept, _table=table)

    def begin(self, prices: Prices, strategy: Strategy, seed: int) -> StrategyChoice | None:
        """Check that a campaign can begin; return what the strategy has chosen on a sample of rows, if so."""
        from cellworth.strategy.advising import sampled_task
        from cellworth.strategy.block_batch import check_strategy
        from cellworth.strategy.block_prices import BlockPrices

        table = self.table
        for j in np.flatnonzero(table.unmeasured):
            check_prior(table.columns[j], f"column {shorten(table.columns[j].name)}")
        refuse_huge(self.sample.values, self.sample.row_ids, self.sample.columns)
        listed = BlockPrices.of(prices, table)
        settled = strategy.settled(sampled_task(table, listed, seed)) if strategy.is_open else strategy
        check_strategy(settled)
        return settled.choice if strategy.is_open else None

    def check_prices(self, prices: Prices, now: BlockTable) -> None:
        """Raise DataError if a cell of the table as it is now has no price by these."""
        from cellworth.strategy.block_prices import BlockPrices

        BlockPrices.of(prices, now)

    def pack(self) -> bytes:
        """Return the reference as bytes, for the campaign's record."""
        reference = {
            "row blocks": FORMAT,
            "path": str(self.path),
            "labels": None if self.labels is None else str(self.labels),
            "names": self.names,
            "digest": [content.digest for content in self.content],
            "content": [content.to_json() for content in self.content],
            "about": self.about,
            "every": self.every,
            "sample": base64.b64encode(pack(self.sample)).decode("ascii"),
        }
        return zlib.compress(json.dumps(reference).encode("ascii"), level=1)

    @classmethod
    def unpack(cls, packed: bytes, engine: Any = None) -> Self:
        """Return what `pack` packed."""
        plain = json.loads(zlib.decompress(packed))
        if plain["row blocks"] != FORMAT:
            raise DataError(
                f"expected a reference to row blocks of format {FORMAT}; got {plain['row blocks']!r}. "
                "Another version of cellworth wrote it: use that version, or a newer one."
            )
        content = tuple(TableContent.from_json(each) for each in plain["content"])
        labels = None if plain["labels"] is None else Path(plain["labels"])
        sample = unpack(base64.b64decode(plain["sample"]))
        path, names, about, every = (plain[name] for name in ("path", "names", "about", "every"))
        return cls(Path(path), labels, names, content, about, sample, every, engine)

    @property
    def read_options(self) -> ReadOptions | None:
        """How its file was written: there is nothing to say about Parquet and Zarr."""
        return None

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.about["rows"])

    @property
    def n_cells(self) -> int:
        """Cells of the table, without labels."""
        return self.n_rows * len(self.columns)

    @property
    def n_known(self) -> int:
        """How many of its cells are known."""
        return int(sum(self.about["known"]))

    @property
    def n_labelled(self) -> int:
        """How many of its rows have a label."""
        return int(self.about["labelled"])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns, without the target."""
        return self.n_rows, len(self.columns)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns."""
        return self.sample.columns

    @property
    def target(self) -> Any:
        """Its target; the labels are those of the sample."""
        return self.sample.target

    @property
    def row_id(self) -> str | None:
        """The column that the row ids come from; None if rows are numbered from 0."""
        return self.sample.row_id

    @property
    def place(self) -> Path:
        """Where the table is now, as far as the log says."""
        return self.path if self._now is None else self._now[1]

    def moved(self, path: str, number: int) -> None:
        """Note that an event says where the table is; the latest event counts."""
        if self._now is None or self._now[0] <= number:
            self._now, self._table = (number, Path(path)), None

    @property
    def table(self) -> BlockTable:
        """The table, whose files are looked at when it is first needed.

        Raises DataError if they are not there, or are not those of the start.
        """
        if self._table is None:
            self.check_at(self.place)
            self._table = self._opened(self.place)
        return self._table

    def check_at(self, path: Path | None, *, thorough: bool = False) -> None:
        """Raise DataError if the files at a path are not those of the start; reads all if ``thorough``."""
        assert path is not None
        places = [path] if self.labels is None else [path, self._labels_near(path)]
        for place, content in zip(places, self.content, strict=True):
            problem = content.differs_at(place, thorough=thorough)
            if problem is None:
                continue
            tell = by_door(
                python="campaign.move_table(path)",
                command_line="cellworth move-table PATH",
                rest="cellworth move-table PATH",
            )
            raise DataError(
                f"the campaign's table is expected at {place}, with the files of the start, but: {problem}. "
                f"Put it back or, if it was moved, say where it is now with {tell}. A changed table needs a "
                "new campaign."
            )

    def _labels_near(self, path: Path) -> Path:
        """Return where the labels are, given where the table is: they move together."""
        assert self.labels is not None
        if path == self.path:
            return self.labels
        return path.parent / self.labels.name

    def _opened(self, path: Path) -> BlockTable:
        about, columns = self.about, self.columns
        labels = None if self.labels is None else self._labels_near(path)
        stored = stored_table(path, self.names, labels)
        known = np.array(about["known"], dtype=np.intp)
        target = about["target"]
        rules = CellRules(
            about["name"],
            columns,
            None if target is None else target_from_plain(target, np.zeros(0)),
            about["row_id"],
            {name: _marks_from_plain(marks) for name, marks in about["marks"].items()},
            about["date_format"],
            known == 0,
            stored.n_rows,
        )
        engine = on_threads(self.engine)
        return BlockTable(stored, rules, engine, known, about["labelled"], tuple(about["fineness"]))

    def index(self) -> CellIndex:
        """Return its rows and columns by name."""
        return CellIndex(self, RowsOnBlocks(self))

    def cells(self, index: CellIndex) -> CellValues:
        """Return its cells, of which only those that events change are kept."""
        assert isinstance(index.rows, RowsOnBlocks)
        return CellsOnBlocks(self, index.rows)

    def adviser(self, strategy: Strategy, seed: int) -> Any:
        """Return a `BlockAdviser`."""
        from cellworth.strategy.block_adviser import BlockAdviser

        return BlockAdviser(strategy, self.table, seed=seed)

    def chooser(self, log: Log, in_force: BudgetAndPrices) -> Chooser:
        """Return what chooses from row blocks."""
        from cellworth.campaign.choosing import ChooserOnBlocks

        return ChooserOnBlocks(log, in_force)

    def worths(self, log: Log, in_force: BudgetAndPrices, make_rounds: Callable[[], Rounds]) -> CellWorths:
        """Return what says it of row blocks."""
        from cellworth.campaign.worths_on_blocks import WorthsOnBlocks

        return WorthsOnBlocks(log, in_force, make_rounds)

    def assessed(self, log: Log) -> Any:
        """Return the log of the sample of rows."""
        from cellworth.campaign.assessment.sampled_log import SampledLog

        return SampledLog(log, self.sample, self.n_rows, self.every)


def _places(table: BlockTable) -> tuple[Path, Path | None]:
    """Return the path of a table, and that of its labels if they are apart."""
    stored: Any = table.stored
    if hasattr(stored, "path"):
        return Path(stored.path), None
    places = [getattr(stored, name, None) for name in ("X", "y")]
    if isinstance(places[0], str) and isinstance(places[1], str | None):
        return Path(places[0]), None if places[1] is None else Path(places[1])
    raise ParameterError(
        "a campaign on row blocks needs a table in files, to find it again: a Parquet folder or file, or a "
        f"Zarr array; got {type(stored).__name__} in memory. Write it to a folder first."
    )


def _marks_to_plain(marks: MissingMarks) -> list[Any]:
    return [sorted(marks.texts), sorted(marks.stated), list(marks.numbers), list(marks.days)]


def _marks_from_plain(plain: list[Any]) -> MissingMarks:
    texts, stated, numbers, days = plain
    return MissingMarks(frozenset(texts), frozenset(stated), tuple(numbers), tuple(days))
