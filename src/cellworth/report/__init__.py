"""Summaries of a campaign, for command line, REST and pages alike, and a report of it as one HTML page."""

from collections.abc import Callable, Mapping
from typing import Any

from cellworth.campaign import Campaign
from cellworth.report.campaign_report import write_report
from cellworth.report.cell_summaries import CellMapSummary, RowSummary, cell_map_summary, row_summary
from cellworth.report.column_summaries import ColumnsSummary, columns_summary
from cellworth.report.ledger_summary import LedgerEntry, LedgerLine, ledger_csv, ledger_entries
from cellworth.report.money_summaries import (
    FrontSummary,
    OverviewSummary,
    PreviewSummary,
    front_summary,
    overview_summary,
    preview_summary,
)
from cellworth.report.summaries import Summary, to_json

SUMMARIES: Mapping[str, Callable[[Campaign], Summary]] = {
    "overview": overview_summary,
    "cell_map": cell_map_summary,
    "columns": columns_summary,
    "front": front_summary,
}
"""The summaries that need nothing but the campaign, in the order in which they are wanted."""


def summarise(campaign: Campaign, summary: Callable[..., Summary], *arguments: Any) -> dict[str, Any]:
    """Return a summary as data fit for JSON; a function that a worker process finds by its name."""
    return summary(campaign, *arguments).to_json()


__all__ = [
    "SUMMARIES",
    "CellMapSummary",
    "ColumnsSummary",
    "FrontSummary",
    "LedgerEntry",
    "LedgerLine",
    "OverviewSummary",
    "PreviewSummary",
    "RowSummary",
    "Summary",
    "cell_map_summary",
    "columns_summary",
    "front_summary",
    "ledger_csv",
    "ledger_entries",
    "overview_summary",
    "preview_summary",
    "row_summary",
    "summarise",
    "to_json",
    "write_report",
]
