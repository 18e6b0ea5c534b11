"""Stores: where campaigns live."""

from cellworth.campaign.stores.address import open_store
from cellworth.campaign.stores.store import Event, Founding, Store

__all__ = ["Event", "Founding", "Store", "open_store"]
