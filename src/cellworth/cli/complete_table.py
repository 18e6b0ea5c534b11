"""``cellworth complete TABLE``: a table that is completed block by block."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from cellworth.cli.opening import usage
from cellworth.cli.terminal import count, print_json
from cellworth.errors import DataError


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
    """What is to be completed, where and how: the options of the command."""

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


def complete_table(big: BigTable, checkpoint: Path | None, *, as_json: bool) -> None:
    """Complete a table and write it; go on from a checkpoint if there is one."""
    from cellworth.blocks import open_blocks
    from cellworth.blocks.checkpoints import remove_checkpoint
    from cellworth.blocks.writing import check_new

    if big.scheduler is not None and big.engine is EngineName.LOCAL:
        raise typer.BadParameter("--scheduler goes with --engine dask.")
    if big.table.suffix in (".csv", ".tsv", ".txt", ".gz"):
        raise DataError(
            f"{big.table}: expected a Parquet folder or file, or a .zarr array. A text file is read as a "
            "whole: use Table.read and fill in Python, or cellworth init to begin a campaign."
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
