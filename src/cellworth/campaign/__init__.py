"""Campaigns: ask for cells, tell their values, and never lose an answer."""

from cellworth.campaign.assessment.status import Gain, Status, Totals
from cellworth.campaign.campaign import Campaign
from cellworth.campaign.current_cells import CellArrays, CellRecord, RowRecord
from cellworth.campaign.open_cells import OpenPage

__all__ = ["Campaign", "CellArrays", "CellRecord", "Gain", "OpenPage", "RowRecord", "Status", "Totals"]
