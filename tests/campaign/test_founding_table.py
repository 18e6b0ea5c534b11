"""What a campaign is founded on."""

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.campaign.founding_table import FoundingInMemory, founded_on, unpack_founding
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import ParameterError
from tests.campaign.campaigns import make_table


def test_a_table_in_memory_is_packed_whole():
    table = make_table(n=6, seed=3)
    founding = founded_on(table, None)
    assert isinstance(founding, FoundingInMemory)
    again = unpack_founding(founding.pack())
    assert np.array_equal(again.table.values, table.values, equal_nan=True)
    assert again.table.row_ids == table.row_ids
    assert (again.n_rows, again.row_id, again.place) == (6, table.row_id, None)
    assert again.n_known == int((~table.holes).sum())


def test_a_table_in_the_store_cannot_be_moved(tmp_path):
    campaign = Campaign.create(make_table(n=6, seed=3), prices=Prices.same(1.0), store=MemoryStore())
    with pytest.raises(ParameterError, match="in the store, and cannot be moved"):
        campaign.move_table(tmp_path)
    assert campaign.number == 0
