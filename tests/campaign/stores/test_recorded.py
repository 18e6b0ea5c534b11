"""What is recorded is found by its key and by the mark of the call that wrote it."""

import pytest
from sqlalchemy import create_engine, insert

from cellworth.campaign.stores.checksums import chained
from cellworth.campaign.stores.recorded import check_keys, is_written, number_of_key
from cellworth.campaign.stores.schema import CAMPAIGN, EVENT, STEPS, upgrade
from cellworth.campaign.stores.store_protocol import event_rows, record_row
from cellworth.errors import ConflictError
from cellworth.testing.store_contract import make_events, make_record


def test_events_are_found_by_key_and_token():
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, "here", STEPS)
        record = record_row(make_record("study"), "mine")
        rows = event_rows("study", 0, make_events(0, "a", None, "b"), "mine")
        chained(rows, record["seal"])
        connection.execute(insert(CAMPAIGN), record)
        connection.execute(insert(EVENT), rows)
        assert [number_of_key(connection, "study", key) for key in "abc"] == [1, 3, None]
        assert number_of_key(connection, "other", "a") is None
        assert is_written(connection, "study", 2, "mine")
        assert not is_written(connection, "study", 2, "another")
        assert not is_written(connection, "study", 3, "mine")
        check_keys(connection, "study", [f"new {k}" for k in range(600)])
        with pytest.raises(ConflictError, match=r"Event 3 .* already has the key 'b'"):
            check_keys(connection, "study", [*(f"new {k}" for k in range(600)), "b"])
    engine.dispose()
