"""Stores: where campaigns are kept."""

from cellworth.campaign.stores.address import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.campaign.stores.store_protocol import CampaignRecord, Store, StoredEvent

__all__ = ["CampaignRecord", "MemoryStore", "Store", "StoredEvent", "open_store"]
