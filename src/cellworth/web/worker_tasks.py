"""What the worker does for a request: choose values to ask for, write files, take a first look.

The first results on a large table are of a sample of its rows, while the whole is being worked out.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from cellworth.blocks.writing import write_whole
from cellworth.campaign import Campaign
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import CellworthError
from cellworth.forecasting import StopWarning
from cellworth.optional_packages import require
from cellworth.report import ledger_csv, ledger_entries, ledger_rows, write_report
from cellworth.report.summaries import to_json
from cellworth.strategy import Batch
from cellworth.table import Table
from cellworth.table.excel import write_sheet
from cellworth.table.write_csv import with_mark
from cellworth.table.write_table import write_for_spreadsheet

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable


LARGE = 1_000_000
"""Cells of a table above which a sample comes first."""
SAMPLE = 1_000
"""Rows of the sample."""


class AskResult(NamedTuple):
    """The cells asked for, and the sentence of a `StopWarning`; None if there was none."""

    batch: Batch
    stop: str | None


def ask_and_tell(campaign: Campaign, *limits: Any, **settings: Any) -> AskResult:
    """Return the result of `Campaign.ask` with these arguments; warnings cannot leave the worker."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StopWarning)
        batch = campaign.ask(*limits, **settings)
    said = [str(each.message) for each in caught if issubclass(each.category, StopWarning)]
    return AskResult(batch, said[0] if said else None)


What = Literal["table", "filled", "ledger"]
FileFormat = Literal["csv", "xlsx", "parquet"]
FILES, FORMATS = get_args(What), get_args(FileFormat)
MEDIA: dict[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
}


def make_file(
    campaign: Campaign,
    path: str,
    what: What,
    ending: FileFormat,
    *,
    as_read: bool = False,
    guarded: bool = True,
) -> None:
    """Write a file: the table with all answers, the same with its holes filled, or all events.

    With ``as_read``, a table has the separator and the decimal mark of the file that the campaign began with.
    In CSV, text that a spreadsheet would run as a formula is escaped if ``guarded``. Filling costs a
    completion. A table in row blocks is written a part at a time.
    """
    if what == "ledger":
        _write_ledger(campaign, Path(path), ending)
        return
    marks = {name: mark for name, mark in campaign.read_options.written.items() if mark and as_read}
    table = campaign.table
    if isinstance(table, Table):
        filled = table if what == "table" else campaign.fill().table
        write = write_for_spreadsheet if guarded else Table.write
        write(filled, Path(path), **marks)
        return
    if what == "table":
        write_whole(table, Path(path), guarded=guarded, **marks)
        return
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        filled_blocks: Any = campaign.fill()
        filled_blocks.write(Path(folder) / "filled")
        # Without the ends of intervals, which a table that was filled in memory does not have here either.
        filled_files = Table.open(Path(folder) / "filled", columns=table.column_names, **table.keywords())
        write_whole(filled_files, Path(path), guarded=guarded, **marks)


def make_report(campaign: Campaign, path: str) -> None:
    """Write the report of a campaign, one HTML page; see `Campaign.write_report`."""
    write_report(campaign, path)


def _write_ledger(campaign: Campaign, path: Path, ending: FileFormat) -> None:
    entries = ledger_entries(campaign)
    if ending == "csv":
        path.write_text(with_mark(ledger_csv(entries)), "utf-8", newline="")
        return
    header, *rows = ledger_rows(entries)
    if ending == "xlsx":
        write_sheet(path, [header, *rows])
        return
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    columns = {str(name): [row[k] for row in rows] for k, name in enumerate(header)}
    schema = arrow.schema([(str(name), arrow.string()) for name in header])
    frame = arrow.table(columns, schema=schema)
    parquet.write_table(frame, path)


def quick_status(campaign: Campaign) -> dict[str, Any]:
    """Return the status of a campaign as plain data, scored by a linear model and as of now alone."""
    target = campaign.table.target
    is_number = target is not None and target.is_number
    model = "ridge regression" if is_number else "logistic regression"
    return {"status": to_json(campaign.status(model=model, max_rounds=1))}


def first_look(campaign: Campaign, look: Callable[[Campaign], dict[str, Any]]) -> dict[str, Any] | None:
    """Return a look at a sample of the rows; None if the table is small, or it cannot be had.

    ``rows`` of the result are those of the sample. Worths, shares and scores are estimates of those of the
    whole table; money and numbers of cells are those of the sample. Costs a look at `SAMPLE` rows.
    """
    table = campaign.table
    is_small = table.shape[0] * table.shape[1] <= LARGE or table.shape[0] <= 2 * SAMPLE
    if is_small and isinstance(table, Table):
        return None
    strategy = "recommended" if campaign.strategy == "auto" else campaign.strategy
    try:
        few = sample_of(table, campaign.seed)
        said: dict[str, Any] = {"prices": campaign.prices, "strategy": strategy, "seed": campaign.seed}
        with Campaign.create(few, store=MemoryStore(), **said) as sample:
            return {**look(sample), "rows": few.shape[0]}
    except CellworthError:  # say, prices of single cells, which the sample has not
        return None


def sample_of(table: Table | BlockTable, seed: int) -> Table:
    """Return `SAMPLE` rows of a table, drawn at random, in their order; of row blocks, about as many."""
    if not isinstance(table, Table):
        return table.every(max(1, table.shape[0] // SAMPLE))
    rows = np.sort(np.random.default_rng(seed).choice(table.shape[0], SAMPLE, replace=False))
    target = None if table.target is None else replace(table.target, values=table.target.values[rows])
    ids = tuple(table.row_ids[place] for place in rows.tolist())
    return Table(table.columns, table.values[rows], ids, target, table.row_id)
