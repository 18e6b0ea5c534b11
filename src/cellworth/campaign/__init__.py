"""Campaigns: ask for cells, tell their values, and never lose an answer."""

from cellworth.campaign.campaign import Campaign
from cellworth.campaign.cell_records import CellArrays, CellRecord, RowRecord
from cellworth.campaign.open_cells import OpenPage
from cellworth.campaign.status import Gain, Status, Totals

__all__ = ["Campaign", "CellArrays", "CellRecord", "Gain", "OpenPage", "RowRecord", "Status", "Totals"]
