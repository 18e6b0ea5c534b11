"""Campaigns: ask for cells, tell their values, and never lose an answer."""

from cellworth.campaign.campaign import Campaign
from cellworth.campaign.queue import CampaignQueue, OpenPage
from cellworth.campaign.row_records import CellRecord, RowRecord
from cellworth.campaign.tally import Tally
from cellworth.campaign.view import CampaignView

__all__ = [
    "Campaign",
    "CampaignQueue",
    "CampaignView",
    "CellRecord",
    "OpenPage",
    "RowRecord",
    "Tally",
]
