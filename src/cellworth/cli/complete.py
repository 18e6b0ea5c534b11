"""``cellworth complete``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, print_json, working

EXAMPLE = "Example: cellworth complete --out filled.csv --intervals"


def _level(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"expected a share above 0 and below 1; got {value}.")
    return value


def complete(
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .csv, .tsv or .parquet file.")],
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Add the ends of the interval of each number and date, as columns."),
    ] = False,
    level: Annotated[
        float, typer.Option(callback=_level, help="The share of hidden cells that intervals should hold.")
    ] = 0.9,
    spreadsheet: options.Spreadsheet = False,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Fill the holes that are left, and write the table.

    What is known stays as it is; its interval, if wanted, is the value itself.
    """
    with opened(store, name) as campaign:
        from cellworth.campaign.results import with_interval_columns
        from cellworth.campaign.spreadsheet import guard_table

        with working("Completing the table"):
            filled = campaign.complete(level)
        table = with_interval_columns(filled) if intervals else filled.table
        (guard_table(table) if spreadsheet else table).write(out)
        holes = int(campaign.table.holes.sum())
        if as_json:
            print_json({"out": str(out), "filled": holes, "level": level if intervals else None})
        else:
            print(f"{count(holes, 'hole')} filled; the table is in {out}")
