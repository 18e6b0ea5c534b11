"""The fill command: fills a table from a file, a campaign's table, or a large table block by block."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.file_options import TableOptions
from cellworth.cli.options import usage
from cellworth.cli.output import Force, count, make_way, print_json, working

if TYPE_CHECKING:
    from cellworth.complete import FilledTable
    from cellworth.table import Table


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
    """The options for filling a large table."""

    table: Path
    out: Path
    engine: EngineName
    scheduler: str | None
    workers: int | None
    memory: str
    completer: CompleterName
    target: str | None
    variance: bool
    level: float | None


def _fill_blocks(big: BigTable, reading: TableOptions, checkpoint: Path | None, *, as_json: bool) -> None:
    """Fill a table block by block and write it; resume from a checkpoint if there is one."""
    from cellworth.blocks import open_blocks
    from cellworth.blocks.array_source import is_sparse_table
    from cellworth.blocks.checkpoints import remove_checkpoint
    from cellworth.blocks.writing import check_new
    from cellworth.complete.filled_blocks import fill_blocks

    if big.scheduler is not None and big.engine is EngineName.LOCAL:
        raise WrongUsage("--scheduler needs --engine dask.")
    check_new(big.out)
    folder = checkpoint or big.out.with_name(big.out.name + ".checkpoint")
    with usage(), _engine(big) as engine:
        engine.watch = _Passes() if sys.stderr.isatty() else None
        if is_sparse_table(big.table):
            source = open_blocks(big.table, target=big.target, row_id=reading.row_id, engine=engine)
            completer = _completer(big).fit(source, checkpoint=folder)
            completer.completed_.write(big.out, variance=big.variance)
            n_rows, known = source.n_rows, int(completer.completed_.summary.counts.sum())
            holes = n_rows * len(source.columns) - known
        else:
            table = reading.open(big.table, big.target, engine)
            filled = fill_blocks(table, _completer(big), level=big.level, checkpoint=folder)
            filled.write(big.out, variance=big.variance)
            completer, n_rows, holes = filled.completer, table.n_rows, table.n_holes
    remove_checkpoint(folder)
    if as_json:
        steps = completer.n_iter_
        print_json({"out": str(big.out), "rows": n_rows, "filled": holes, "iterations": steps})
    else:
        print(f"{count(holes, 'hole')} of {count(n_rows, 'row')} filled; the table is in {big.out}")


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
    """Shows on one line of the terminal the number of the current pass and its progress."""

    def __init__(self) -> None:
        self._passes = 0

    def __call__(self, done: int, total: int) -> None:
        self._passes += done == 1
        line = f"pass {self._passes}: {done} of {total} blocks"
        print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)


def fill(
    *,
    table: Annotated[
        Path | None,
        Argument(
            metavar="TABLE",
            help="A .csv, .tsv, .txt or .xlsx file; or a Parquet folder or file, or a .zarr array, to fill "
            "block by block. By default, fill the campaign's table.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A .csv, .tsv, .xlsx or .parquet file; for blocks, a folder or .zarr array. By default, "
            "print CSV.",
        ),
    ] = None,
    intervals: Annotated[
        bool,
        Option("--intervals", help="Add columns with the interval of each number and date."),
    ] = False,
    level: Annotated[
        float,
        Option(callback=options.share_below(1), help="Coverage of the intervals, such as 0.9 for 90 %."),
    ] = 0.9,
    force: Force = False,
    spreadsheet: options.Spreadsheet = False,
    engine: Annotated[
        EngineName, Option(help="With TABLE: run in threads of this process or on Dask workers.")
    ] = EngineName.LOCAL,
    scheduler: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Address of a Dask cluster. By default, start workers here."),
    ] = None,
    workers: Annotated[
        int | None, Option(min=1, help="How many threads or local workers. By default, one per core.")
    ] = None,
    memory: Annotated[str, Option(help="Memory for all local Dask workers together.")] = "4GB",
    completer: Annotated[
        CompleterName, Option(help="With TABLE: the completer to use.")
    ] = CompleterName.GAUSSIAN,
    target: Annotated[
        str | None, Option(metavar="COLUMN", help="With TABLE: the label column, or a .zarr array.")
    ] = None,
    variance: Annotated[
        bool, Option("--variance", help="With TABLE: also write the variance of each cell.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="With TABLE: where to save progress, so that the same command resumes after an "
            "interruption. By default, the --out path plus .checkpoint; removed at the end.",
        ),
    ] = None,
    on: options.CampaignOptions,
    reading: TableOptions,
    as_json: options.Json = False,
) -> None:
    """Fill the remaining holes with estimates, and write the table.

    Known values stay unchanged; with --intervals, the interval of a known value is the value itself. With
    TABLE, no campaign is needed. A folder of Parquet files is filled block by block, on threads or Dask
    workers, and may be larger than memory, as in cellworth fill big/ --row-id id --engine dask --out filled/.

    Example: cellworth fill clinic.csv --row-id id --missing '?' --out filled.csv --intervals
    """
    if table is not None and _is_text(table):
        from cellworth.complete import fill as fill_table

        _check_out(out, force=force)
        with usage():
            read = reading.table(table, target)
            with working("Filling the table"):
                result = fill_table(read, level=level if intervals else None)
        _write(
            result,
            read,
            out,
            level if intervals else None,
            reading.written,
            spreadsheet=spreadsheet,
            as_json=as_json,
        )
        return
    if table is not None:
        if out is None:
            raise WrongUsage("filling block by block needs --out.")
        ends = level if intervals else None
        big = BigTable(table, out, engine, scheduler, workers, memory, completer, target, variance, ends)
        _fill_blocks(big, reading, checkpoint, as_json=as_json)
        return
    with on.campaign() as campaign:
        _check_out(out, force=force)
        with working("Filling the table"):
            filled = campaign.fill(level)
        _write(
            filled,
            campaign.table,
            out,
            level if intervals else None,
            campaign.read_options.written,
            spreadsheet=spreadsheet,
            as_json=as_json,
        )


def _check_out(out: Path | None, *, force: bool) -> None:
    """Fail before the work if its result cannot be written."""
    from cellworth.table.write_table import check_can_write

    if out is not None:
        check_can_write(out)
        make_way(out, force=force)


def _write(
    filled: FilledTable,
    table: Table,
    out: Path | None,
    level: float | None,
    as_read: dict[str, Any],
    *,
    spreadsheet: bool,
    as_json: bool,
) -> None:
    """Write a filled table to a file, or print it; with its intervals if there is a level."""
    from cellworth.table.write_table import guard_table, write_for_spreadsheet

    completed = filled.table if level is None else filled.with_interval_columns()
    holes = int(table.holes.sum())
    if out is None and not as_json:
        shown = guard_table(completed) if spreadsheet else completed
        sys.stdout.write(shown.to_csv(as_read["delimiter"] or ",", as_read["decimal"]))
        return
    if out is None:
        raise WrongUsage("--json needs --out.")
    write_for_spreadsheet(completed, out, **as_read) if spreadsheet else completed.write(out, **as_read)
    if as_json:
        print_json({"out": str(out), "filled": holes, "level": level})
    else:
        print(f"{count(holes, 'hole')} filled; the table is in {out}")


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv", ".txt", ".gz", ".xlsx")
