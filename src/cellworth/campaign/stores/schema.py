"""The tables of a store, their version, and migrations from older versions.

An empty database is at version 0. ``STEPS[k]`` migrates version k to version k + 1, so new and old databases
follow the same path. Never change a released step: add a new one, and update the tables below, which queries
use, to match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Connection,
    LargeBinary,
    TextClause,
    column,
    delete,
    insert,
    inspect,
    select,
    table,
    text,
    update,
)

from cellworth.campaign.stores import read_campaigns
from cellworth.campaign.stores.checksums import link_after, seal_of

Step = Callable[[Connection], None]

VERSION = table(read_campaigns.VERSION_TABLE, column("version"))
CAMPAIGN = table(
    "cellworth_campaign",
    column("name"),
    column("created"),
    column("settings"),
    column("digest"),
    column("token"),
    column("seal"),
    column("content", LargeBinary),
)
EVENT = table(
    "cellworth_event",
    column("campaign"),
    column("number"),
    column("time"),
    column("kind"),
    column("who"),
    column("key"),
    column("data"),
    column("token"),
    column("chain"),
)
HEAD = table("cellworth_head", column("campaign"), column("number"), column("chain"))
CACHE = table("cellworth_cache", column("campaign"), column("number"), column("content", LargeBinary))
SNAPSHOT = table("cellworth_snapshot", column("campaign"), column("number"), column("content", LargeBinary))
_BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}
_AT_ONCE = 1000  # events copied at a time
_LOCK = 7_303_014_627_905  # any number that other programs on the same server are unlikely to choose


def version_of(connection: Connection, place: str) -> int:
    """Return the version of the tables in a database; 0 if there are none."""
    if not inspect(connection).has_table(VERSION.name):
        return 0
    return stated_version(connection, place)


def stated_version(connection: Connection, place: str) -> int:
    """Return the version that a store states; DataError if it states none."""
    return read_campaigns.stated_version(fetching(connection), place)


@lru_cache
def _prepared(query: str) -> TextClause:
    """Return a query as a clause; making one takes longer than running it."""
    return text(query)


def fetching(connection: Connection) -> read_campaigns.Fetch:
    """Return a function that runs queries on a connection."""

    def fetch(query: str, **values: object) -> list[Mapping[str, Any]]:
        found = connection.execute(_prepared(query), values)
        names = tuple(found.keys())
        return [dict(zip(names, row, strict=True)) for row in found]

    return fetch


def lock_version(connection: Connection) -> None:
    """Keep others from changing the tables until the end of a transaction that writes to them."""
    if connection.dialect.name == "postgresql":  # in SQLite, this transaction is already the only writer
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": _LOCK})


def upgrade(connection: Connection, place: str, steps: Sequence[Step]) -> None:
    """Run the steps that a database still needs, in the connection's transaction.

    If several processes write to a new store at once, one runs the steps; the others wait and find them done.
    """
    if connection.dialect.name == "postgresql":  # in SQLite, this transaction is already the only writer
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    version = version_of(connection, place)
    read_campaigns.check_version(version, place, len(steps))
    for step in steps[version:]:
        step(connection)
    connection.execute(delete(VERSION))
    connection.execute(insert(VERSION).values(version=len(steps)))


def _first_tables(connection: Connection) -> None:
    # A row's token says which call wrote it; see SqlStore.append. The content column comes last, since SQLite
    # must read through a blob to reach what follows it.
    for statement in (
        "CREATE TABLE cellworth_schema (version INTEGER NOT NULL)",
        """CREATE TABLE cellworth_campaign (
            name TEXT NOT NULL PRIMARY KEY,
            created TEXT NOT NULL,
            settings TEXT NOT NULL,
            digest TEXT NOT NULL,
            token TEXT NOT NULL,
            content {bytes} NOT NULL
        )""",
        """CREATE TABLE cellworth_event (
            campaign TEXT NOT NULL REFERENCES cellworth_campaign (name),
            number INTEGER NOT NULL CHECK (number > 0),
            time TEXT NOT NULL,
            kind TEXT NOT NULL,
            who TEXT,
            "key" TEXT,
            data TEXT NOT NULL,
            token TEXT NOT NULL,
            PRIMARY KEY (campaign, number),
            UNIQUE (campaign, "key")
        )""",
        """CREATE TABLE cellworth_cache (
            campaign TEXT NOT NULL PRIMARY KEY REFERENCES cellworth_campaign (name),
            number INTEGER NOT NULL,
            content {bytes} NOT NULL
        )""",
    ):
        connection.exec_driver_sql(statement.format(bytes=_BYTES[connection.dialect.name]))


def _checksums(connection: Connection) -> None:
    # The table of events is made anew, so that an older cellworth that still has the store open fails to
    # write an event without a checksum.
    for statement in (
        "ALTER TABLE cellworth_campaign ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE cellworth_event RENAME TO cellworth_event_1",
        """CREATE TABLE cellworth_event (
            campaign TEXT NOT NULL REFERENCES cellworth_campaign (name),
            number INTEGER NOT NULL CHECK (number > 0),
            time TEXT NOT NULL,
            kind TEXT NOT NULL,
            who TEXT,
            "key" TEXT,
            data TEXT NOT NULL,
            token TEXT NOT NULL,
            chain TEXT NOT NULL,
            PRIMARY KEY (campaign, number),
            UNIQUE (campaign, "key")
        )""",
        """CREATE TABLE cellworth_head (
            campaign TEXT NOT NULL PRIMARY KEY REFERENCES cellworth_campaign (name),
            number INTEGER NOT NULL,
            chain TEXT NOT NULL
        )""",
    ):
        connection.exec_driver_sql(statement)
    columns = [each for each in CAMPAIGN.c if each.name not in ("seal", "content")]
    for campaign in [dict(row) for row in connection.execute(select(*columns)).mappings()]:
        chain = seal_of(campaign)
        named = CAMPAIGN.c.name == campaign["name"]
        connection.execute(update(CAMPAIGN).where(named).values(seal=chain))
        number, chain = _copy_events(connection, campaign["name"], chain)
        connection.execute(insert(HEAD).values(campaign=campaign["name"], number=number, chain=chain))
    connection.exec_driver_sql("DROP TABLE cellworth_event_1")


def _snapshots(connection: Connection) -> None:
    connection.exec_driver_sql(
        f"""CREATE TABLE cellworth_snapshot (
            campaign TEXT NOT NULL PRIMARY KEY REFERENCES cellworth_campaign (name),
            number INTEGER NOT NULL,
            content {_BYTES[connection.dialect.name]} NOT NULL
        )"""
    )


def _copy_events(connection: Connection, name: str, chain: str) -> tuple[int, str]:
    """Copy the events of a campaign with their links; return the last number and link."""
    old = table("cellworth_event_1", *(column(each.name) for each in EVENT.c if each.name != "chain"))
    number = 0
    while True:
        wanted = (old.c.campaign == name) & (old.c.number > number)
        query = select(old).where(wanted).order_by(old.c.number).limit(_AT_ONCE)
        rows = [dict(row) for row in connection.execute(query).mappings()]
        for row in rows:
            chain = row["chain"] = link_after(chain, row)
        if not rows:
            return number, chain
        connection.execute(insert(EVENT), rows)
        number = rows[-1]["number"]


STEPS: tuple[Step, ...] = (_first_tables, _checksums, _snapshots)
