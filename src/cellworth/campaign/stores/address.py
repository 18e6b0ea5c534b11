"""Open a store by its address. Heavy imports wait until the address is known to be valid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cellworth.campaign.stores.store_protocol import Store
from cellworth.errors import ParameterError

if TYPE_CHECKING:
    from cellworth.campaign.stores.transactions import Database

PATIENCE = 30.0  # seconds

_KNOWN = (
    "Use sqlite:///study.db (a file in this folder), sqlite:////home/me/study.db (a file anywhere), a plain "
    "path ending in .db, or postgresql://user@host/database"
)
_POSTGRESQL = ("postgresql", "postgresql+psycopg", "postgres")


@dataclass(frozen=True)
class Address:
    """The address of a store.

    Attributes
    ----------
    kind : {"sqlite", "postgresql"}
    rest : str
        For SQLite, the absolute path of the file; for PostgreSQL, everything after the scheme and its colon,
        including the password.
    """

    kind: Literal["sqlite", "postgresql"]
    rest: str

    def __repr__(self) -> str:
        # The rest may contain a password.
        return f"Address({self.kind!r})"


def open_store(url: str | Path, *, patience: float = PATIENCE, reading: bool = False) -> Store:
    """Open the store at an address, creating its tables if needed.

    Parameters
    ----------
    url : str or Path
        ``sqlite:///study.db`` or ``study.db`` for a file, ``postgresql://user:password@host/database`` for a
        server (needs the ``postgres`` extra). Keep a file on a local disk: locking is unreliable on many
        network file systems.
    patience : float, default=30
        Seconds to wait for another writer, or for an unreachable server, before giving up.
    reading : bool, default=False
        For a short look at a file: it opens in a fraction of the time, until something is written.

    Returns
    -------
    Store

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store(f"sqlite:///{folder}/study.db")
    ...     print(store.names())
    ...     store.close()
    []
    """
    address = read_address(url)  # reject an invalid address before loading SQLAlchemy
    if not (math.isfinite(patience) and patience >= 0):
        raise ParameterError(f"patience must be a number of seconds, 0 or more; got {patience!r}.")
    if reading and address.kind == "sqlite":
        from cellworth.campaign.stores.sqlite_reader import SqliteReader

        return SqliteReader(address, patience)
    from cellworth.campaign.stores.sql_store import SqlStore

    return SqlStore(address, patience=patience)


def read_address(url: str | Path | Address) -> Address:
    """Parse an address; if it is invalid, raise a ParameterError that never shows a password."""
    if isinstance(url, Address):
        return url
    text = str(url)
    scheme, colon, rest = text.partition(":")
    if isinstance(url, Path) or not (colon and rest.startswith("//")):
        if text.lower().endswith(".db"):
            return _file(text)
        raise ParameterError(f"Expected the address of a store; got {_without_secrets(text)!r}. {_KNOWN}.")
    if scheme == "sqlite":
        return _file(_path_of(rest, text))
    if scheme in _POSTGRESQL:
        return Address("postgresql", rest)
    raise ParameterError(f"Stores of the kind {scheme!r} are not supported. {_KNOWN}.")


def _path_of(rest: str, text: str) -> str:
    path = rest.removeprefix("///")
    if path == rest or path in ("", ":memory:"):
        raise ParameterError(
            f"Expected three slashes and the path of a file, as in sqlite:///study.db; got {text!r}. "
            "A campaign must be kept in a file."
        )
    if "?" in path:
        raise ParameterError(
            f"SQLite addresses take no settings after a question mark; got {text!r}. "
            "If the file name contains a question mark, give the path without sqlite:///."
        )
    return path


def _file(path: str) -> Address:
    # Make it absolute: the program may change its working directory while the store is open.
    return Address("sqlite", str(Path(path).expanduser().absolute()))


def _without_secrets(text: str) -> str:
    return "***@" + text.rpartition("@")[2] if "@" in text else text


def database_at(address: Address, patience: float) -> Database:
    """Return the database at an address; only its own driver is imported."""
    if address.kind == "sqlite":
        from cellworth.campaign.stores.sqlite import SqliteDatabase

        return SqliteDatabase(address.rest, patience)
    from cellworth.campaign.stores.postgresql import PostgresDatabase

    return PostgresDatabase(address.rest, patience)
