"""``cellworth export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, print_json

if TYPE_CHECKING:
    from cellworth.table import Table

EXAMPLE = "Example: cellworth export --out table.csv"


def export(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A .csv, .tsv or .parquet file. By default CSV is printed."),
    ] = None,
    spreadsheet: options.Spreadsheet = False,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Write the table as it is now: the original, all answers, corrections and added rows."""
    with opened(store, name) as campaign:
        from cellworth.table.table import guard_table

        table = guard_table(campaign.table) if spreadsheet else campaign.table
        if out is None:
            print_json({"rows": _rows(table)}) if as_json else sys.stdout.write(table.to_csv())
            return
        table.write(out)
        holes = int(table.holes.sum())
        if as_json:
            print_json({"out": str(out), "rows": table.shape[0], "holes": holes})
        else:
            print(f"{count(table.shape[0], 'row')} with {count(holes, 'hole')} are in {out}")


def _rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows with their values as the user writes them; None for a hole."""
    columns = [(column, table.values[:, place]) for place, column in enumerate(table.columns)]
    if table.target is not None:
        columns.append((table.target.column, table.target.cells))
    return [
        {table.row_id or "row": row}
        | {column.name: column.format(float(values[place])) for column, values in columns}
        for place, row in enumerate(table.row_ids)
    ]
