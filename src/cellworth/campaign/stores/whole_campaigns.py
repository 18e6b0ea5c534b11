"""Rename and delete whole campaigns in a database; each function works in one transaction of its caller."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, literal, select, update

from cellworth.campaign.stores.schema import CACHE, CAMPAIGN, EVENT, HEAD, SNAPSHOT

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
