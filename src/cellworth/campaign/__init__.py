"""Campaigns: ask for cells, tell their values, and never lose an answer."""

from cellworth.campaign.campaign import Campaign
from cellworth.campaign.purchase import Purchase
from cellworth.campaign.results import FilledTable
from cellworth.campaign.view import CampaignView

__all__ = ["Campaign", "CampaignView", "FilledTable", "Purchase"]
