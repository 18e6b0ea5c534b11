"""The command that fills a table: that of a campaign, or one that is filled block by block."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cellworth.cli import options
from cellworth.cli.options import opened, usage
from cellworth.cli.output import count, print_json, working
from cellworth.errors import DataError

FILL_EXAMPLE = "Example: cellworth fill --out filled.csv --intervals"


class EngineName(StrEnum):
    """Where blocks run."""

    LOCAL = "local"
    DASK = "dask"


class CompleterName(StrEnum):
    """The completers that run over blocks."""

    GAUSSIAN = "gaussian"
    SUPERVISED = "supervised"
    SPARSE = "sparse"


@dataclass(frozen=True)
class BigTable:
    """What is to be filled, where and how: the options of the command."""

    table: Path
    out: Path
    engine: EngineName
    scheduler: str | None
    workers: int | None
    memory: str
    completer: CompleterName
    target: str | None
    row_id: str | None
    variance: bool


def _fill_blocks(big: BigTable, checkpoint: Path | None, *, as_json: bool) -> None:
    """Fill a table block by block and write it; go on from a checkpoint if there is one."""
    from cellworth.blocks import open_blocks
    from cellworth.blocks.checkpoints import remove_checkpoint
    from cellworth.blocks.writing import check_new

    if big.scheduler is not None and big.engine is EngineName.LOCAL:
        raise typer.BadParameter("--scheduler goes with --engine dask.")
    if big.table.suffix in (".csv", ".tsv", ".txt", ".gz"):
        raise DataError(
            f"{big.table}: expected a Parquet folder or file, or a .zarr array. A text file is read as a "
            "whole: use Table.read and cellworth.fill in Python, or cellworth init to begin a campaign."
        )
    check_new(big.out)
    with usage():
        source = open_blocks(big.table, target=big.target, row_id=big.row_id)
    folder = checkpoint or big.out.with_name(big.out.name + ".checkpoint")
    with usage(), _engine(big) as engine:
        engine.watch = _Passes() if sys.stderr.isatty() else None
        completer = _completer(big).fit(source.on(engine), checkpoint=folder)
        completer.completed_.write(big.out, variance=big.variance)
    remove_checkpoint(folder)
    holes = source.n_rows * len(source.columns) - int(completer.completed_.summary.counts.sum())
    if as_json:
        steps = completer.n_iter_
        print_json({"out": str(big.out), "rows": source.n_rows, "filled": holes, "iterations": steps})
    else:
        print(f"{count(holes, 'hole')} of {count(source.n_rows, 'row')} filled; the table is in {big.out}")


def _engine(big: BigTable) -> Any:
    from cellworth.blocks import DaskEngine, ThreadEngine

    if big.engine is EngineName.LOCAL:
        return ThreadEngine(n_jobs=big.workers or -1)
    return DaskEngine(big.workers or -1, big.memory, scheduler=big.scheduler)


def _completer(big: BigTable) -> Any:
    from cellworth.complete import GaussianCompleter, SparseCompleter, SupervisedCompleter

    kinds = {
        CompleterName.GAUSSIAN: GaussianCompleter,
        CompleterName.SUPERVISED: SupervisedCompleter,
        CompleterName.SPARSE: SparseCompleter,
    }
    return kinds[big.completer]()


class _Passes:
    """Says on one line of the terminal how many passes were made, and how far the present one is."""

    def __init__(self) -> None:
        self._passes = 0

    def __call__(self, done: int, total: int) -> None:
        self._passes += done == 1
        line = f"pass {self._passes}: {done} of {total} blocks"
        print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)


def _level(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"expected a share above 0 and below 1; got {value}.")
    return value


def fill(
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
            help="A Parquet folder or file, or a .zarr array, that is filled block by block. By default "
            "the table of a campaign is filled.",
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
    needed: its blocks are filled on threads or on Dask workers, and need not fit in memory together, as in
    cellworth fill big/ --engine dask --memory 4GB --out filled/.
    """
    if table is not None:
        big = BigTable(table, out, engine, scheduler, workers, memory, completer, target, row_id, variance)
        return _fill_blocks(big, checkpoint, as_json=as_json)
    with opened(store, name) as campaign:
        from cellworth.table.table import guard_table

        with working("Filling the table"):
            filled = campaign.fill(level)
        completed = filled.with_interval_columns() if intervals else filled.table
        (guard_table(completed) if spreadsheet else completed).write(out)
        holes = int(campaign.table.holes.sum())
        if as_json:
            print_json({"out": str(out), "filled": holes, "level": level if intervals else None})
        else:
            print(f"{count(holes, 'hole')} filled; the table is in {out}")
    return None
