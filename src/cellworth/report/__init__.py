"""Summaries of a campaign, shared by the command line, REST and the pages, and its one-page HTML report."""

from collections.abc import Callable, Mapping
from typing import Any

from cellworth.campaign import Campaign
from cellworth.report.campaign_report import write_report
from cellworth.report.cell_map import CellMapSummary, cell_map_summary
from cellworth.report.column_summaries import ColumnsSummary, columns_summary
from cellworth.report.ledger_summary import LedgerEntry, LedgerLine, ledger_csv, ledger_entries, ledger_rows
from cellworth.report.money_summaries import (
    FrontSummary,
    OverviewSummary,
    PreviewSummary,
    front_summary,
    overview_summary,
    preview_summary,
)
from cellworth.report.people_summary import PeopleSummary, people_summary
from cellworth.report.row_summaries import RowSummary, row_summary
from cellworth.report.summaries import Summary, to_json

SUMMARIES: Mapping[str, Callable[[Campaign], Summary]] = {
    "overview": overview_summary,
    "cell_map": cell_map_summary,
    "columns": columns_summary,
    "front": front_summary,
    "people": people_summary,
}
"""The summaries that need nothing but the campaign, in the order they are shown."""


def summarise(campaign: Campaign, summary: Callable[..., Summary], *arguments: Any) -> dict[str, Any]:
    """Return a summary as JSON-ready data; at module level so that a worker process can import it."""
    return summary(campaign, *arguments).to_json()


__all__ = [
    "SUMMARIES",
    "CellMapSummary",
    "ColumnsSummary",
    "FrontSummary",
    "LedgerEntry",
    "LedgerLine",
    "OverviewSummary",
    "PeopleSummary",
    "PreviewSummary",
    "RowSummary",
    "Summary",
    "cell_map_summary",
    "columns_summary",
    "front_summary",
    "ledger_csv",
    "ledger_entries",
    "ledger_rows",
    "overview_summary",
    "people_summary",
    "preview_summary",
    "row_summary",
    "summarise",
    "to_json",
    "write_report",
]
