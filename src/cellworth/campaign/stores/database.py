"""What a store needs to know about a kind of database."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from cellworth.errors import CellworthError


class Database(Protocol):
    """A kind of database, at one address.

    Attributes
    ----------
    place : str
        The address as people may see it, without a password.
    """

    place: str

    def make_engine(self) -> Engine:
        """Return a new engine with its own connections."""
        ...

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction on a connection; what it commits is on the disk."""
        ...

    def is_away(self, error: DBAPIError) -> bool:
        """Tell whether the database cannot be reached, so that waiting may help."""
        ...

    def explain(self, error: DBAPIError) -> CellworthError:
        """Say in plain words what went wrong and what to do."""
        ...
