"""What the worker does for a request: choose values to ask for, and write files to download."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from cellworth.campaign import Campaign
from cellworth.forecasting import StopWarning
from cellworth.optional_packages import require
from cellworth.report import ledger_csv, ledger_entries, ledger_rows, write_report
from cellworth.strategy import Batch
from cellworth.table import as_table
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


def make_file(campaign: Campaign, what: What, ending: FileFormat, *, as_read: bool = False) -> bytes:
    """Return a file: the table with all answers, the same with its holes filled, or all events.

    With ``as_read``, a table has the separator and the decimal mark of the file that the campaign began with.
    In CSV, text that a spreadsheet would run as a formula is escaped. Filling costs a completion.
    """
    if what == "ledger":
        return _ledger(campaign, ending)
    as_it_is = as_table(campaign.table)
    table = as_it_is if what == "table" else campaign.fill().table
    marks = {name: mark for name, mark in campaign.read_options.written.items() if mark and as_read}
    return _written(ending, lambda path: write_for_spreadsheet(table, path, **marks))


def make_report(campaign: Campaign) -> bytes:
    """Return the report of a campaign, one HTML page; see `Campaign.write_report`."""
    return _written("html", lambda path: write_report(campaign, path))


def _ledger(campaign: Campaign, ending: FileFormat) -> bytes:
    entries = ledger_entries(campaign)
    if ending == "csv":
        return with_mark(ledger_csv(entries)).encode()
    header, *rows = ledger_rows(entries)
    if ending == "xlsx":
        return _written(ending, lambda path: write_sheet(path, [header, *rows]))
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    columns = {str(name): [row[k] for row in rows] for k, name in enumerate(header)}
    schema = arrow.schema([(str(name), arrow.string()) for name in header])
    frame = arrow.table(columns, schema=schema)
    return _written(ending, lambda path: parquet.write_table(frame, path))


def _written(ending: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{ending}"
        write(path)
        return path.read_bytes()
