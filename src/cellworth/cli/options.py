"""Options that several commands share: which campaign, who works on it, and for whom to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_STORE = "sqlite:///study.db"

Store = Annotated[
    str,
    typer.Option(
        metavar="URL",
        envvar="CELLWORTH_STORE",
        help="Where the campaign lives: sqlite:///FILE, a path ending in .db, or postgresql://USER@HOST/DATABASE.",
    ),
]
Name = Annotated[
    str | None, typer.Option(help="Which campaign of the store. Not needed if there is only one.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
Who = Annotated[str | None, typer.Option(metavar="NAME", help="Who does this, for the log.")]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of the file, such as latin-1 or utf-16. By default UTF-8.")
]

TablePath = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A .csv, .tsv, .txt (also .gz) or .parquet file.")
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column to be predicted.")]
RowId = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column that names the rows. By default 0, 1, ..."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="MARK", help="A text that stands for a hole, besides blanks. May be repeated."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="What a column holds: number, integer, boolean, ordered, category or date. May be repeated.",
    ),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="COLUMN=LOW,...,HIGH",
        help="The texts of an ordered column, from low to high. May be repeated.",
    ),
]
Delimiter = Annotated[str | None, typer.Option(help="What separates the fields. By default a comma.")]
PricesPath = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", help="A CSV file with column,price. By default each cell costs 1."
    ),
]


def _strategies(begun: str) -> list[str]:
    """Return the strategies whose names begin so, for the shell."""
    from cellworth import strategy

    return [name for name in strategy.names() if name.startswith(begun)]


Strategy = Annotated[
    str, typer.Option(metavar="NAME", help="How to choose the cells.", autocompletion=_strategies)
]
TokensPath = Annotated[
    Path | None,
    typer.Option(
        "--tokens", metavar="FILE", help="Ask for a token of this file, which cellworth token makes."
    ),
]

Cells = Annotated[
    list[str] | None, typer.Argument(metavar="[ROW:COLUMN]...", help="The cells, as ROW:COLUMN.")
]
CellsFrom = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="A CSV file with row,column, such as a file of asks."),
]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet", help="Put an apostrophe before texts that a spreadsheet would take for formulas."
    ),
]
