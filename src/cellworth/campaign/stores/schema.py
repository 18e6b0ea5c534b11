"""The tables of a store, their version, and how an older version becomes a newer one.

A database in which nothing was made yet is at version 0. ``STEPS[k]`` leads from version k to version k + 1,
so that a new database and an old one take the same road. A step that was released is never changed: a new one
is added, and the tables below, which are what queries see, follow it.
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
    """Return the version of the tables in a database, 0 where there are none."""
    if not inspect(connection).has_table(VERSION.name):
        return 0
    return int(connection.execute(select(VERSION.c.version)).scalar_one())


def check_version(version: int, place: str, newest: int) -> None:
    """Refuse tables that a newer cellworth made."""
    if version > newest:
        raise DataError(
            f"The store {place} was made by a newer cellworth: its tables have version {version}, and this "
            f"cellworth knows versions up to {newest}. Upgrade it with: pip install --upgrade cellworth."
        )


def upgrade(connection: Connection, place: str, steps: Sequence[Step]) -> None:
    """Take the steps that a database still lacks, in the transaction of the connection.

    Several processes may open a new store at once: one takes the steps, the others wait and find them taken.
    """
    if connection.dialect.name == "postgresql":  # SQLite's transaction is the only writer already
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    version = version_of(connection)
    check_version(version, place, len(steps))
    for step in steps[version:]:
        step(connection)
    connection.execute(delete(VERSION))
    connection.execute(insert(VERSION).values(version=len(steps)))


def _first_tables(connection: Connection) -> None:
    # The token of a row says which call wrote it: see SqlStore.append. Content comes last in its table, since
    # SQLite has to walk through a blob to get at what follows it.
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
