"""From an address to a store. Nothing heavy is imported before an address is known to make sense."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cellworth.campaign.stores.store_protocol import Store
from cellworth.errors import ParameterError

PATIENCE = 30.0  # seconds

_KNOWN = (
    "Known are: sqlite:///study.db (a file in this folder), sqlite:////home/me/study.db (a file anywhere), "
    "a plain path that ends in .db, and postgresql://user@host/database"
)
_POSTGRESQL = ("postgresql", "postgresql+psycopg", "postgres")


@dataclass(frozen=True)
class Address:
    """An address of a kind that is known.

    Attributes
    ----------
    kind : {"sqlite", "postgresql"}
    rest : str
        For SQLite the absolute path of the file; for PostgreSQL everything after the scheme and its colon,
        password included.
    """

    kind: Literal["sqlite", "postgresql"]
    rest: str

    def __repr__(self) -> str:
        # The rest may hold a password.
        return f"Address({self.kind!r})"


def open_store(url: str | Path, *, patience: float = PATIENCE) -> Store:
    """Open the store at an address; a place that is still empty is prepared.

    Parameters
    ----------
    url : str or Path
        ``sqlite:///study.db`` or ``study.db`` for a file, ``postgresql://user:password@host/database`` for a
        server (this needs the extra ``postgres``). A file should lie on a local disk: locks do not hold on
        many network file systems.
    patience : float, default=30
        Seconds to wait for another writer, and for a server that went away, before giving up.

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
    read_address(url)  # an address that makes no sense is refused before SQLAlchemy is loaded

    from cellworth.campaign.stores.sql_store import SqlStore

    return SqlStore(url, patience=patience)


def read_address(url: str | Path) -> Address:
    """Read an address; ParameterError, without any password in it, where it is of no known kind."""
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
    raise ParameterError(f"Stores of the kind {scheme!r} are not known. {_KNOWN}.")


def _path_of(rest: str, text: str) -> str:
    path = rest.removeprefix("///")
    if path == rest or path in ("", ":memory:"):
        raise ParameterError(
            f"Expected three slashes and the path of a file, as in sqlite:///study.db; got {text!r}. "
            "A campaign cannot live in memory only."
        )
    if "?" in path:
        raise ParameterError(
            f"Settings after a question mark are not known for SQLite; got {text!r}. "
            "If the file's name has a question mark, give its path without sqlite:///."
        )
    return path


def _file(path: str) -> Address:
    # Absolute from now on: the program may change its working directory while the store is open.
    return Address("sqlite", str(Path(path).expanduser().absolute()))


def _without_secrets(text: str) -> str:
    return "***@" + text.rpartition("@")[2] if "@" in text else text
