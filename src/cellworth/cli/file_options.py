"""The options that say how to read a table and other files, shared by all commands that read one."""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Option, WrongUsage
from cellworth.errors import MissingMarkWarning, SampleWarning

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable
    from cellworth.blocks.row_source import Source
    from cellworth.campaign import Campaign
    from cellworth.campaign.new_rows import Rows
    from cellworth.prices import Prices
    from cellworth.table import Table
    from cellworth.table.text_file import TextFile

Decimal = Annotated[
    str, Option(metavar="MARK", help="The decimal mark of numbers: a point, or a comma as in 1.234,5.")
]
RememberedDecimal = Annotated[
    str,
    Option(metavar="MARK", help="The decimal mark of numbers. By default, as in the campaign's table."),
]
DateFormat = Annotated[
    str | None,
    Option(metavar="FORMAT", help="How dates are written, such as DD.MM.YYYY. ISO dates need no format."),
]


NeededTarget = Annotated[
    str | None,
    options.column_of_table("The column to predict; needed with a table of your own."),
]


@dataclass(frozen=True)
class FileOptions:
    """How the text of a file is written. Its fields are options of a command."""

    encoding: options.Encoding = None
    delimiter: options.Delimiter = None
    decimal: Decimal = "."
    date_format: DateFormat = None

    def file(self, path: Path) -> TextFile:
        """Return a file with how it is written; accepted wherever a path is."""
        from cellworth.table.text_file import TextFile

        with options.usage():
            return TextFile(path, self.encoding, self.delimiter, self.decimal, self.date_format)

    def file_like(self, campaign: Campaign, path: Path) -> TextFile:
        """Return a file with how it is written: as the options say, else as the campaign's table."""
        fields = ("encoding", "delimiter", "decimal", "date_format")
        said = {name: getattr(self, name) for name in fields}
        with options.usage():
            usual = campaign.read_options.file(path)
            # An option that is left out has the value of its class.
            differs = {name: value for name, value in said.items() if value != getattr(type(self), name)}
            return replace(usual, **{name: value for name, value in differs.items() if value})

    @property
    def written(self) -> dict[str, Any]:
        """The separator and decimal mark, as keywords of `Table.write`: results look like the file."""
        return {"delimiter": self.delimiter, "decimal": self.decimal}

    def prices(self, path: Path | None) -> Prices | None:
        """Read a price list; None without one."""
        from cellworth.prices import Prices

        return None if path is None else Prices.read(self.file(path))


@dataclass(frozen=True)
class RememberedFileOptions(FileOptions):
    """How a file for a campaign is written, as far as it differs from the campaign's table."""

    decimal: RememberedDecimal = ""

    def rows(self, campaign: Campaign, path: Path, missing: Sequence[str]) -> Rows:
        """Read rows; what the options leave open is as in the campaign's table."""
        from cellworth.campaign.new_rows import read_rows

        with options.usage():
            marks = campaign.read_options.with_marks(missing).missing
            return read_rows(self.file_like(campaign, path), campaign.table, missing=marks)

    def prices_like(self, campaign: Campaign, path: Path) -> Prices:
        """Read a price list; what the options leave open is as in the campaign's table."""
        from cellworth.prices import Prices

        return Prices.read(self.file_like(campaign, path))


@dataclass(frozen=True)
class NamedCells(FileOptions):
    """Cells named on the command line or in a file. Its fields are options of a command."""

    cells: options.Cells = None
    path: options.CellsFrom = None

    def __bool__(self) -> bool:
        return bool(self.cells) or self.path is not None

    def of(self, campaign: Campaign) -> list[tuple[object, str]]:
        """Return the cells."""
        return options.chosen_cells(campaign, self.cells, self.path and self.file(self.path))


@dataclass(frozen=True)
class TableOptions(FileOptions):
    """How to read a table. Its fields are options of a command."""

    row_id: options.RowId = None
    missing: options.Missing = None
    kinds: options.Kinds = None
    orders: options.Orders = None
    categories: options.Categories = None
    bounds: options.BoundsOption = None
    units: options.Units = None
    descriptions: options.Descriptions = None

    def marks_like(self, campaign: Campaign) -> Any:
        """Return what marks a hole in a file for a campaign: the options' marks, besides its table's."""
        with options.usage():
            return campaign.read_options.with_marks(list(self.missing or ())).missing

    def table(self, path: Path, target: str | None) -> Table:
        """Read the table that the options describe."""
        from cellworth.table import Table

        with warnings_shown():
            return Table.read(self.file(path), target=target, **self._said())

    def table_or_blocks(self, path: Path, target: str | None) -> Table | BlockTable:
        """Read a file, or open a folder of Parquet files or a .zarr array to be read in blocks of rows."""
        in_blocks = path.is_dir() or path.suffix == ".zarr"
        return self.open(path, target) if in_blocks else self.table(path, target)

    def table_blocks_or_matrix(self, path: Path, target: str | None) -> Table | BlockTable | Source:
        """Do the same, or open a .npz file or a folder of them as a sparse matrix."""
        from cellworth.blocks import open_blocks
        from cellworth.blocks.array_source import is_sparse_table

        if not is_sparse_table(path):
            return self.table_or_blocks(path, target)
        return open_blocks(path, target=target, row_id=self.row_id)

    def rows(self, path: Path, target: str | None, what: str) -> Table:
        """Read a file, or a sample of the rows of a folder or .zarr array; say what for."""
        from cellworth.blocks.row_sample import in_memory

        given = self.table_or_blocks(path, target)
        with warnings_shown():
            return in_memory(given, what)[0]

    def open(self, path: Path, target: str | None, engine: Any = None) -> BlockTable:
        """Open the table that the options describe, to be read in blocks of rows on an engine."""
        from cellworth.table import Table

        said = self._said() | ({} if self.date_format is None else {"date_format": self.date_format})
        place: dict[str, Any] = {"labels" if path.suffix == ".zarr" else "target": target}
        with warnings_shown():
            return Table.open(path, engine=engine, **place, **said)

    def _said(self) -> dict[str, Any]:
        named = {column: _values(texts) for column, texts in map(_pair, self.categories or ())}
        ordered = {column: _values(texts) for column, texts in map(_pair, self.orders or ())}
        return {
            "row_id": self.row_id,
            "missing": list(self.missing or ()),
            "kinds": {**dict(map(_pair, self.kinds or ())), **dict.fromkeys(ordered, "ordered")},
            "categories": named | ordered,
            "bounds": dict(map(_range, self.bounds or ())),
            "units": dict(map(_pair, self.units or ())),
            "descriptions": dict(map(_pair, self.descriptions or ())),
        }


NO_TARGET = "a table needs --target COLUMN, the column to predict."


@contextmanager
def warnings_shown() -> Iterator[None]:
    """Show warnings about a table as lines on standard error, when the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in (MissingMarkWarning, SampleWarning):
            warnings.simplefilter("always", kind)
        yield
    for each in caught:
        if not issubclass(each.category, MissingMarkWarning | SampleWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            continue
        print(f"cellworth: {each.message}", file=sys.stderr)


@dataclass(frozen=True)
class LearningOptions(TableOptions):
    """How to read the table that a model learns from, unless it is a campaign's, and which model."""

    target: NeededTarget = None
    price_file: options.PricesPath = None
    model: options.Candidate = None
    seed: options.FoldSeed = 0

    def table_and_prices(self, path: Path) -> tuple[Table | BlockTable, Prices | None]:
        """Read the table and its price list."""
        if self.target is None:
            raise WrongUsage(NO_TARGET)
        return self.table_or_blocks(path, self.target), self.prices(self.price_file)

    def rows_and_prices(self, path: Path, what: str) -> tuple[Table, Prices | None]:
        """Read the table, or a sample of its rows, and its price list; see `rows`."""
        if self.target is None:
            raise WrongUsage(NO_TARGET)
        return self.rows(path, self.target, what), self.prices(self.price_file)


def _pair(text: str) -> tuple[str, str]:
    column, equals, said = text.partition("=")
    if not (column and equals and said):
        raise WrongUsage(f"expected COLUMN=..., such as stage=ordered or stage=I,II; got {text!r}.")
    return column, said


def _range(text: str) -> tuple[str, tuple[str | None, str | None]]:
    column, said = _pair(text)
    low, comma, high = (part.strip() for part in said.partition(","))
    if not comma or "," in high:
        raise WrongUsage(f"expected COLUMN=LOW,HIGH, such as age=0,120 or dose=0,; got {text!r}.")
    return column, (low or None, high or None)


def _values(text: str) -> Sequence[str]:
    """Split at commas, but for those in double quotes."""
    return next(csv.reader([text], skipinitialspace=True))
