"""Statements on the rows that a database has for one campaign: its events and what is derived from them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, TableClause, delete, insert, literal, select, text, update

from cellworth.campaign.stores.schema import CACHE, CAMPAIGN, EVENT, HEAD, SNAPSHOT
from cellworth.errors import ConflictError
from cellworth.messages import shorten

KEYS_AT_ONCE = 500  # in one query; databases accept tens of thousands of values
_PARTS = (EVENT, HEAD, CACHE, SNAPSHOT)


def token_of(connection: Connection, name: str) -> str | None:
    """Return the mark of the call that wrote a campaign's record; None if there is no such campaign."""
    found = connection.execute(select(CAMPAIGN.c.token).where(CAMPAIGN.c.name == name))
    return found.scalar_one_or_none()


def rename_campaign(connection: Connection, name: str, new: str, token: str) -> None:
    """Give a campaign a new name that is free; its checksums do not depend on it. O(events)."""
    changed = {"name": literal(new), "token": literal(token)}
    columns = [changed.get(column.name, column) for column in CAMPAIGN.c]
    copy = select(*columns).where(CAMPAIGN.c.name == name)
    connection.execute(insert(CAMPAIGN).from_select([column.name for column in CAMPAIGN.c], copy))
    for part in _PARTS:
        connection.execute(update(part).where(part.c.campaign == name).values(campaign=new))
    connection.execute(delete(CAMPAIGN).where(CAMPAIGN.c.name == name))


def delete_campaign(connection: Connection, name: str) -> None:
    """Delete a campaign with its events, cache and snapshot; O(events)."""
    for part in _PARTS:
        connection.execute(delete(part).where(part.c.campaign == name))
    connection.execute(delete(CAMPAIGN).where(CAMPAIGN.c.name == name))


def save_blob(connection: Connection, table: TableClause, name: str, number: int, blob: bytes) -> None:
    """Save a blob in place of the one that is there, unless that one is of a later event; O(its size)."""
    statement = text(
        f"INSERT INTO {table.name} (campaign, number, content) VALUES (:campaign, :number, :content)"
        " ON CONFLICT (campaign) DO UPDATE SET number = excluded.number, content = excluded.content"
        f" WHERE {table.name}.number <= excluded.number"
    )
    connection.execute(statement, {"campaign": name, "number": number, "content": blob})


def is_written(connection: Connection, name: str, after: int, token: str) -> bool:
    """Return whether an earlier attempt of the same call was committed; its events are all there or none."""
    first = (EVENT.c.campaign == name) & (EVENT.c.number == after + 1)
    return connection.execute(select(EVENT.c.token).where(first)).scalar_one_or_none() == token


def check_keys(connection: Connection, name: str, keys: Sequence[str]) -> None:
    """Raise ConflictError if a key is used by an event of the campaign."""
    for start in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[start : start + KEYS_AT_ONCE]
        query = select(EVENT.c.key, EVENT.c.number).where((EVENT.c.campaign == name) & EVENT.c.key.in_(some))
        taken = connection.execute(query).first()
        if taken is not None:
            raise ConflictError(
                f"Event {taken.number} of campaign {shorten(name)} already has the key {shorten(taken.key)}: "
                "this was recorded before. Read the new events, and do not send it again."
            )
