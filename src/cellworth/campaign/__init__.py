"""Campaigns: ask for cells, tell their values, and never lose an answer."""

from cellworth.campaign.campaign import Campaign
from cellworth.campaign.queue import CampaignQueue, OpenPage
from cellworth.campaign.results import FilledTable
from cellworth.campaign.row_records import CellRecord, RowRecord
from cellworth.campaign.tally import Tally
from cellworth.campaign.view import CampaignView

__all__ = [
    "Campaign",
    "CampaignQueue",
    "CampaignView",
    "CellRecord",
    "FilledTable",
    "OpenPage",
    "RowRecord",
    "Tally",
]
