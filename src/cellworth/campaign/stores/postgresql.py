"""PostgreSQL: a store on a server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError

from cellworth.errors import CellworthError, DataError, ParameterError
from cellworth.optional_packages import require

_EXPECTED = "Expected an address like postgresql://user:password@host:5432/database"
# A connection that dies silently is noticed within a minute.
_CONNECTING = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "application_name": "cellworth",
    "client_encoding": "utf8",  # whatever the database's: the driver decodes nothing else into text
}
_ABANDONED = 60  # seconds after which the server ends the transaction of a silent client
_AWAY = ("08", "57P01", "57P02", "57P03")  # connection lost; shut down, crashed, starting up

# A turn outlasts the other transactions, since a round may take long, but not a machine that is gone.
_TAKE_TURN = text(
    "SELECT set_config('idle_in_transaction_session_timeout', '3600000', true),"
    " set_config('tcp_keepalives_idle', '30', true), set_config('tcp_keepalives_interval', '10', true),"
    " set_config('tcp_keepalives_count', '3', true), pg_try_advisory_xact_lock(:key) AS taken"
)


class PostgresDatabase:
    """A database on a PostgreSQL server; needs psycopg 3.

    Writers to one campaign wait for each other, for at most ``patience`` seconds.
    """

    shared = True

    def __init__(self, rest: str, patience: float) -> None:
        require("psycopg")
        self._url = _read_url(rest)
        self.place = _shown(self._url)
        self.patience = patience

    def make_engine(self) -> Engine:
        """Return an engine whose sessions keep a store's promises, whatever the server's defaults."""
        defaults = {name: value for name, value in _CONNECTING.items() if name not in self._url.query}
        engine = create_engine(
            self._url, connect_args=defaults, isolation_level="READ COMMITTED", hide_parameters=True
        )
        event.listen(engine, "connect", self._prepare)
        return engine

    def is_there(self) -> bool:
        """Return True: somebody else makes databases."""
        return True

    def make(self, fill: Callable[[Connection], None]) -> None:
        """Do nothing: the database is there."""

    def read_clock(self, connection: Connection) -> datetime:
        """Return the server's time, which is the same for all who use it."""
        time: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return time.astimezone(UTC)

    def take_turn(self, engine: Engine, name: str) -> Callable[[], None] | None:
        """Take an advisory lock that ends with a transaction of its own."""
        key = int.from_bytes(hashlib.sha256(f"cellworth round {name}".encode()).digest()[:8], signed=True)
        connection = engine.connect()
        try:
            if connection.execute(_TAKE_TURN, {"key": key}).one().taken:
                return connection.close
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None

    def close(self) -> None:
        """Do nothing: there is nothing but connections to close."""

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Do nothing: the driver starts a transaction with its first statement."""

    def is_away(self, error: DBAPIError) -> bool:
        """Return whether the connection was lost or could not be made."""
        code = getattr(error.orig, "sqlstate", None)
        if code is not None:
            return error.connection_invalidated or code.startswith(_AWAY)
        # The driver gives no code if no session was established; such an error has no statement either.
        return error.connection_invalidated or (isinstance(error, OperationalError) and not error.statement)

    def explain(self, error: DBAPIError) -> CellworthError:
        """Return the error in plain words, based on its SQLSTATE."""
        code = getattr(error.orig, "sqlstate", None) or ""
        diagnosis = getattr(error.orig, "diag", None)
        said = f"The server says: {getattr(diagnosis, 'message_primary', None) or str(error.orig).strip()}"
        if self.is_away(error):
            return DataError(
                f"The server of {self.place} cannot be reached. Check that it is running, and check the "
                "address, user and password. The last write was saved as a whole or not at all: read the "
                f"events before you write again. {said}"
            )
        if code == "53100":
            return DataError(
                f"The disk of the server of {self.place} is full; nothing was written. Free some space and "
                f"try again. {said}"
            )
        if code == "55P03":
            return DataError(
                f"Another program kept {self.place} locked for {self.patience:g} s; nothing was written. "
                f"Try again, or end the program that holds it. {said}"
            )
        if code in ("42501", "3F000", "25006"):
            return DataError(
                f"The user of {self.place} may not write there. Ask for the rights to create tables in the "
                f"database's schema and to write to them; the server must not be read-only. {said}"
            )
        if code == "22021":
            return DataError(
                f"The store {self.place} is damaged: it holds text that is not UTF-8. Restore it from a "
                f"backup. {said}"
            )
        if code == "22P05":
            return DataError(
                f"The database {self.place} cannot hold this text; nothing was written. Create one with the "
                f"encoding UTF8: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0. {said}"
            )
        return DataError(f"The store {self.place} could not be used; nothing was written. {said}")

    def _prepare(self, session: Any, _: object) -> None:
        with session.cursor() as cursor:
            for setting, value in (
                ("lock_timeout", max(1, round(1000 * self.patience))),  # 0 would wait forever
                ("idle_in_transaction_session_timeout", 1000 * _ABANDONED),
            ):
                cursor.execute("SELECT set_config(%s, %s, false)", (setting, str(value)))
            # A server may be configured to confirm commits before they are on disk; keep stricter settings.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', false)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
        session.commit()


def _read_url(rest: str) -> URL:
    """Parse an address; errors never show any of it, since it may contain a password."""
    try:
        url = make_url(f"postgresql+psycopg:{rest}")
    except Exception:
        url = None
    # A later @ means that the password contains a slash and was cut there.
    if url is None or "@" in f"{url.host}{url.database}{url.port}":
        raise ParameterError(
            f"The address of the PostgreSQL store cannot be read. {_EXPECTED}, with %2F for /, %40 for @ and "
            "%3A for : in the password."
        )
    if not url.database and "dbname" not in url.query and "service" not in url.query:
        raise ParameterError(f"The address of the PostgreSQL store names no database. {_EXPECTED}.")
    return url


def _shown(url: URL) -> str:
    """Return the address without the password."""
    user = f"{url.username}@" if url.username else ""
    host = url.host or url.query.get("host") or ""
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{user}{host}{port}/{url.database or url.query.get('dbname', '')}"
