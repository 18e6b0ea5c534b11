"""The store in memory keeps what every store promises."""

from cellworth.campaign.stores.memory import MemoryStore
from cellworth.testing.store_contract import check_store


def test_the_contract():
    store = MemoryStore()

    def corrupt(name):
        store._records[name]["content"] = b"something else"

    check_store(lambda: store, corrupt=corrupt)
