"""Shared options, and functions that turn them into an open campaign or a list of cells."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import shell_completion
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.shell_completion import DEFAULT_STORE as DEFAULT_STORE
from cellworth.errors import DataError, ParameterError
from cellworth.shown_numbers import write_from_here

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.forecasting import StopRule
    from cellworth.table.files import AnyFile

Store = Annotated[
    str,
    Option(
        metavar="URL",
        envvar="CELLWORTH_STORE",
        help="Where the campaign is kept: sqlite:///FILE, a path ending in .db, or postgresql://USER@HOST/DATABASE.",
    ),
]
Name = Annotated[
    str | None,
    Option(
        help="The campaign's name. Not needed if the store has only one.",
        autocompletion=shell_completion.names_of_store,
    ),
]
CampaignName = Annotated[
    str,
    Argument(
        metavar="NAME", help="The name of the campaign.", autocompletion=shell_completion.names_of_store
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON, for use by programs.")]
Who = Annotated[str | None, Option(metavar="NAME", help="Who is doing this, for the log.")]
Encoding = Annotated[
    str | None,
    Option(help="Encoding of the file, such as cp1252. By default, UTF-8, UTF-16 or Windows-1252."),
]

TablePath = Annotated[
    Path,
    Argument(
        metavar="TABLE", help="A .csv, .tsv or .txt file (optionally .gz), or an .xlsx or .parquet file."
    ),
]


def column_of_table(help_text: str) -> Any:
    """Return an option that names a column of the table of the command."""
    return Option(metavar="COLUMN", help=help_text, autocompletion=shell_completion.columns_of_table)


Target = Annotated[str, column_of_table("The column to predict.")]
OptionalTarget = Annotated[str | None, column_of_table("The column to predict, if there is one.")]
RowId = Annotated[
    str | None,
    column_of_table("The column that holds the row ids. By default, rows are numbered from 0."),
]
Missing = Annotated[
    list[str] | None,
    Option(
        metavar="MARK",
        help="A text that marks a missing cell, besides blanks, NA, NULL and the like. May be repeated.",
    ),
]


def _by_column(option: str, value: str, help_text: str) -> Any:
    """Return an option that takes a value for a column and may be repeated."""
    return Option(
        option,
        metavar=f"COLUMN={value}",
        help=f"{help_text} May be repeated.",
        autocompletion=shell_completion.settings_of_columns,
    )


Kinds = Annotated[
    list[str] | None,
    _by_column("--kind", "KIND", "What a column holds: number, integer, boolean, ordered, category or date."),
]
Orders = Annotated[
    list[str] | None,
    _by_column(
        "--order",
        "LOW,...,HIGH",
        'The values of an ordered column, from low to high; in "..." if they contain commas.',
    ),
]
BoundsOption = Annotated[
    list[str] | None,
    _by_column("--bounds", "LOW,HIGH", "The range of a number or date; leave a side blank if it is open."),
]
Units = Annotated[list[str] | None, _by_column("--unit", "UNIT", "The unit of a column.")]
Descriptions = Annotated[
    list[str] | None,
    _by_column("--description", "TEXT", "What a column holds, or how it is measured."),
]
Categories = Annotated[
    list[str] | None,
    _by_column("--categories", "TEXT,...", "All texts that a category may have, also those not seen yet."),
]
Delimiter = Annotated[
    str | None,
    Option(help="The field separator. By default, a comma; price lists and answers may use any."),
]
PricesPath = Annotated[
    Path | None,
    Option(
        "--prices",
        metavar="FILE",
        help="A .csv or .xlsx file with column,price. By default, each cell costs 1.",
    ),
]
Strategy = Annotated[
    str,
    Option(
        metavar="NAME",
        help="The strategy that chooses the cells.",
        autocompletion=shell_completion.strategies,
    ),
]
Seconds = Annotated[
    float | None,
    Option(min=0, help="Try no further candidates after this time. By default, try all."),
]
Candidate = Annotated[
    str | None, Option("--model", metavar="NAME", help="Use this candidate; do not search.")
]
FoldSeed = Annotated[int, Option(min=0, help="Seed of the folds and draws.")]
StrategySeed = Annotated[int, Option(min=0, help="Random seed for the strategy.")]
TokensPath = Annotated[
    Path | None,
    Option("--tokens", metavar="FILE", help="Require a token from this file, made with cellworth token."),
]

Cells = Annotated[
    list[str] | None,
    Argument(
        metavar="[ROW:COLUMN]...", help="Cells, as ROW:COLUMN.", autocompletion=shell_completion.open_cells
    ),
]
ListToFillIn = Annotated[
    Path | None, Option(metavar="FILE", help="Write the list to this CSV file, to fill in.")
]
CellsFrom = Annotated[
    Path | None,
    Option("--from", metavar="FILE", help="A CSV file with row,column, such as a list from ask."),
]
Insist = Annotated[
    bool,
    Option("--yes", help="Record also numbers that are far outside what was seen in their columns."),
]
Spreadsheet = Annotated[
    bool,
    Option(
        "--spreadsheet",
        help="For a spreadsheet: put an apostrophe before text that it would read as a formula, and mark the "
        "encoding of text in other letters than English.",
    ),
]


@contextmanager
def usage() -> Iterator[None]:
    """Turn a ParameterError into wrong usage."""
    try:
        yield
    except ParameterError as error:
        raise WrongUsage(str(error)) from None


@dataclass(frozen=True)
class CampaignOptions:
    """Which campaign a command is about; its fields are options of the command."""

    store: Store = DEFAULT_STORE
    name: Name = None

    @contextmanager
    def campaign(self, *, reading: bool = False) -> Iterator[Campaign]:
        """Open the campaign, and close it at the end. A missing file is an error, not created.

        Numbers are shown with the decimal mark of the file that it began with.

        ``reading`` opens a file faster, for a command that only looks.
        """
        from cellworth.campaign import Campaign
        from cellworth.campaign.stores import open_store

        with usage():
            check_there(self.store)
            place = open_store(self.store, reading=reading)
            with closing(place), Campaign.open(place, self.name) as campaign:
                write_from_here(campaign.read_options.decimal)  # also what is told once it is closed
                yield campaign

    @property
    def repeated(self) -> str:
        """The options that the next command needs for the same campaign, with a leading space; or ""."""
        return repeated(self.store, self.name)


@dataclass(frozen=True)
class RecordOptions(CampaignOptions):
    """The same for a command that records something: also who does it."""

    who: Who = None


def repeated(store: str, name: str | None) -> str:
    """Return the options that name this store and campaign, with a leading space; "" for the usual one."""
    usual = os.environ.get("CELLWORTH_STORE") or DEFAULT_STORE
    where = "" if store == usual else f" --store {shlex.quote(store)}"
    return where if name is None else f"{where} --name {shlex.quote(name)}"


BEGIN = (
    "Start one with: cellworth init TABLE --target COLUMN. Or say where it is with --store or "
    "CELLWORTH_STORE."
)


def check_there(store: str, remedy: str = BEGIN) -> None:
    """Raise DataError if the address is that of a file that does not exist."""
    from cellworth.campaign.stores.address import read_address

    address = read_address(store)
    if address.kind == "sqlite" and not Path(address.rest).exists():
        raise DataError(f"{address.rest}: there is no campaign here. {remedy}")


def share_below(end: float) -> Callable[[float], float]:
    """Return the check of an option that it is above 0 and below a number."""

    def check(value: float) -> float:
        if not 0 < value < end:
            raise WrongUsage(f"expected a share above 0 and below {end:g}; got {value}.")
        return value

    return check


def shown(store: str) -> str:
    """Return the address of a store without user and password."""
    return "postgresql://" + store.rpartition("@")[2] if "@" in store else store


def stop_rule(gain: float | None, reach: float | None, point_worth: float | None) -> StopRule | None:
    """Return the rule that a command's options describe; None without any."""
    if sum(each is not None for each in (gain, reach, point_worth)) > 1:
        raise WrongUsage("give only one of --until-gain, --until-reach and --point-worth.")
    if gain is reach is point_worth is None:
        return None
    from cellworth.forecasting import StopRule

    with usage():
        least = {} if gain is None else {"least_gain": gain}
        return StopRule(**least, reach=reach, point_worth=point_worth)


def chosen_cells(
    campaign: Campaign, cells: Sequence[str] | None, path: AnyFile | None
) -> list[tuple[object, str]]:
    """Return the cells named on the command line or in a file."""
    if bool(cells) == (path is not None):
        raise WrongUsage("name cells as ROW:COLUMN or give a file with --from, one of the two.")
    if cells and len(cells) == 2 and not any(":" in cell for cell in cells):  # ROW COLUMN
        cells = [":".join(cells)]
    found = campaign.cells_named(cells or ()) if path is None else campaign.cells_in_file(path)
    return [(row, column) for row, column in found]
