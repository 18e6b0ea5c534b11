"""A campaign's table, filled table and report as files, in memory, for people who take them away."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cellworth.campaign import Campaign
from cellworth.errors import ParameterError
from cellworth.report.campaign_report import write_report

FORMATS = ("csv", "xlsx", "parquet")


def table_file(campaign: Campaign, suffix: str, *, filled: bool = False) -> bytes:
    """Return the table as it is now, with its gaps or filled, as a file; a filled one costs a fit."""
    if suffix not in FORMATS:
        raise ParameterError(f"a table can be had as {', '.join(FORMATS)}; got {suffix[:20]!r}.")
    table = campaign.fill().table if filled and campaign.table.holes.any() else campaign.table
    with tempfile.TemporaryDirectory(prefix="cellworth-") as folder:
        path = Path(folder) / f"table.{suffix}"
        table.write(path)
        return path.read_bytes()


def report_file(campaign: Campaign) -> bytes:
    """Return the report as one HTML page; costs a status."""
    with tempfile.TemporaryDirectory(prefix="cellworth-") as folder:
        path = Path(folder) / "report.html"
        write_report(campaign, path)
        return path.read_bytes()
