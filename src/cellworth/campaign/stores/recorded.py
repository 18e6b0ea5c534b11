"""Find out what is recorded in a database already: the event with a key, and the events of a call."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from cellworth.campaign.stores.schema import EVENT
from cellworth.errors import ConflictError
from cellworth.messages import shorten

_AT_ONCE = 500  # keys in one query; databases accept tens of thousands of values


def number_of_key(connection: Connection, name: str, key: str) -> int | None:
    """Return the number of the event with a key; None if there is none. O(log N)."""
    wanted = (EVENT.c.campaign == name) & (EVENT.c.key == key)
    return connection.execute(select(EVENT.c.number).where(wanted)).scalar_one_or_none()


def is_written(connection: Connection, name: str, after: int, token: str) -> bool:
    """Return whether an earlier attempt of the same call was committed; its events are all there or none."""
    first = (EVENT.c.campaign == name) & (EVENT.c.number == after + 1)
    return connection.execute(select(EVENT.c.token).where(first)).scalar_one_or_none() == token


def check_keys(connection: Connection, name: str, keys: Sequence[str]) -> None:
    """Raise ConflictError if an event has one of these keys."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        query = select(EVENT.c.key, EVENT.c.number).where((EVENT.c.campaign == name) & EVENT.c.key.in_(some))
        taken = connection.execute(query).first()
        if taken is not None:
            raise ConflictError(
                f"Event {taken.number} of campaign {shorten(name)} already has the key {shorten(taken.key)}: "
                "this was recorded before. Read the new events, and do not send it again."
            )
