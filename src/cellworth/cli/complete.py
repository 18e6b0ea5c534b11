"""``cellworth complete``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellworth.cli import options
from cellworth.cli.complete_table import BigTable, CompleterName, EngineName, complete_table
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, print_json, working

EXAMPLE = "Example: cellworth complete --out filled.csv --intervals"


def _level(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"expected a share above 0 and below 1; got {value}.")
    return value


def complete(
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="A .csv, .tsv or .parquet file; of a TABLE, a folder or .zarr array."
        ),
    ],
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A Parquet folder or file, or a .zarr array, that is completed block by block. By default "
            "the table of a campaign is completed.",
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Add the ends of the interval of each number and date, as columns."),
    ] = False,
    level: Annotated[
        float, typer.Option(callback=_level, help="The share of hidden cells that intervals should hold.")
    ] = 0.9,
    spreadsheet: options.Spreadsheet = False,
    engine: Annotated[
        EngineName, typer.Option(help="Of a TABLE: threads of this process, or Dask workers.")
    ] = EngineName.LOCAL,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a Dask cluster; by default workers are started here."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads or workers here. By default one for each core.")
    ] = None,
    memory: Annotated[str, typer.Option(help="Of all Dask workers here together.")] = "4GB",
    completer: Annotated[
        CompleterName, typer.Option(help="Of a TABLE: which completer.")
    ] = CompleterName.GAUSSIAN,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of a TABLE: the column of labels, or a .zarr array.")
    ] = None,
    row_id: options.RowId = None,
    variance: Annotated[
        bool, typer.Option("--variance", help="Of a TABLE: write the variance of each cell as well.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Of a TABLE: where the state is kept, so that the same command goes on after an "
            "interruption. By default OUT with .checkpoint added; removed in the end.",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Fill the holes that are left, and write the table.

    What is known stays as it is; its interval, if wanted, is the value itself. With a TABLE no campaign is
    needed: its blocks are completed on threads or on Dask workers, and need not fit in memory together, as in
    cellworth complete big/ --engine dask --memory 4GB --out filled/.
    """
    if table is not None:
        big = BigTable(table, out, engine, scheduler, workers, memory, completer, target, row_id, variance)
        return complete_table(big, checkpoint, as_json=as_json)
    with opened(store, name) as campaign:
        from cellworth.table.table import guard_table

        with working("Completing the table"):
            filled = campaign.complete(level)
        completed = filled.with_interval_columns() if intervals else filled.table
        (guard_table(completed) if spreadsheet else completed).write(out)
        holes = int(campaign.table.holes.sum())
        if as_json:
            print_json({"out": str(out), "filled": holes, "level": level if intervals else None})
        else:
            print(f"{count(holes, 'hole')} filled; the table is in {out}")
    return None
