"""Of the blobs of a campaign the newest is kept, whoever saves it."""

import pytest
from sqlalchemy import create_engine, text

from cellworth.campaign.stores.blobs import load_blob, save_blob
from cellworth.campaign.stores.schema import CACHE, SNAPSHOT, STEPS, upgrade


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, "here", STEPS)
        row = "('study', '', '', '', '', '', x'')"
        connection.execute(text(f"INSERT INTO cellworth_campaign VALUES {row}"))
        yield connection
    engine.dispose()


@pytest.mark.parametrize("table", [CACHE, SNAPSHOT])
def test_only_the_newest_is_kept(connection, table):
    assert load_blob(connection, table, "study", 9) is None
    for number, blob in [(3, b"three"), (5, b"five"), (4, b"four"), (5, b"five again")]:
        save_blob(connection, table, "study", number, blob)
    assert load_blob(connection, table, "study", 5) == (5, b"five again")
    assert load_blob(connection, table, "study", 4) is None
    assert load_blob(connection, table, "other", 9) is None
