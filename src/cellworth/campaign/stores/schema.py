"""The tables of a store, their version, and migrations from older versions.

An empty database is at version 0. ``STEPS[k]`` migrates version k to version k + 1, so new and old databases
follow the same path. Never change a released step: add a new one, and update the tables below, which queries
use, to match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, LargeBinary, column, delete, insert, inspect, select, table, text

from cellworth.errors import DataError

Step = Callable[[Connection], None]

VERSION = table("cellworth_schema", column("version"))
CAMPAIGN = table(
    "cellworth_campaign",
    column("name"),
    column("created"),
    column("settings"),
    column("digest"),
    column("token"),
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
)
CACHE = table("cellworth_cache", column("campaign"), column("number"), column("content", LargeBinary))

_BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}
_LOCK = 7_303_014_627_905  # any number that other programs on the same server are unlikely to choose


def version_of(connection: Connection) -> int:
    """Return the version of the tables in a database; 0 if there are none."""
    if not inspect(connection).has_table(VERSION.name):
        return 0
    return int(connection.execute(select(VERSION.c.version)).scalar_one())


def check_version(version: int, place: str, newest: int) -> None:
    """Raise DataError if a newer cellworth made the tables."""
    if version > newest:
        raise DataError(
            f"The store {place} was made by a newer cellworth: its tables have version {version}, and this "
            f"cellworth knows versions up to {newest}. Upgrade with: pip install --upgrade cellworth."
        )


def upgrade(connection: Connection, place: str, steps: Sequence[Step]) -> None:
    """Run the steps that a database still needs, in the connection's transaction.

    If several processes open a new store at once, one runs the steps; the others wait and find them done.
    """
    if connection.dialect.name == "postgresql":  # in SQLite, this transaction is already the only writer
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    version = version_of(connection)
    check_version(version, place, len(steps))
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


STEPS: tuple[Step, ...] = (_first_tables,)
