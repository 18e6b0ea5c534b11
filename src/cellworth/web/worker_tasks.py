"""What the worker does for a request: choose values to ask for, and write files to download."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from cellworth.blocks.whole_files import write_whole
from cellworth.campaign import Campaign
from cellworth.forecasting import StopWarning
from cellworth.optional_packages import require
from cellworth.report import ledger_csv, ledger_entries, ledger_rows, write_report
from cellworth.strategy import Batch
from cellworth.table import Table
from cellworth.table.excel import write_sheet
from cellworth.table.write_csv import with_mark
from cellworth.table.write_table import write_for_spreadsheet


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
