"""Read campaigns from a database, by any function that runs a query.

The queries are plain SQL that SQLite and PostgreSQL both know, so that a short command can read a file with
Python's own driver: importing SQLAlchemy takes it longer than everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cellworth.campaign.stores.checksums import HOW_TO_GO_ON, NOTHING_STATED, Stated, check_rows
from cellworth.campaign.stores.store_protocol import (
    CampaignRecord,
    StoredEvent,
    event_from,
    is_keepable,
    record_from,
)
from cellworth.errors import DataError
from cellworth.messages import did_you_mean, listing, shorten

CHECKED = 2
"""The first version of the tables with checksums; stores of earlier versions are read without."""
WITH_SNAPSHOTS = 3
"""The first version with snapshots; stores of earlier versions are read without."""
NEWEST = 3
"""The version that this program writes."""
VERSION_TABLE = "cellworth_schema"

_STATED = (
    "SELECT c.seal, h.number, h.chain FROM cellworth_campaign c"
    " LEFT JOIN cellworth_head h ON h.campaign = c.name WHERE c.name = :name"
)


class Fetch(Protocol):
    """Runs a query with values for its ``:names``, and returns its rows."""

    def __call__(self, query: str, **values: object) -> list[Mapping[str, Any]]:
        """Return the rows of a query, each by column name."""
        ...


def stated_version(fetch: Fetch, place: str) -> int:
    """Return the version that a store states; DataError if it states none."""
    stated = [row["version"] for row in fetch(f"SELECT version FROM {VERSION_TABLE}")]
    if len(stated) != 1 or not isinstance(stated[0], int):
        raise DataError(
            f"The store {place} is damaged: the table {VERSION_TABLE} must hold one version number; got "
            f"{stated}. Restore the store from a backup."
        )
    return stated[0]


def check_version(version: int, place: str, newest: int) -> None:
    """Raise DataError if a newer cellworth made the tables."""
    if version > newest:
        raise DataError(
            f"The store {place} was made by a newer cellworth: its tables have version {version}, and this "
            f"cellworth knows versions up to {newest}. Upgrade with: pip install --upgrade cellworth."
        )


def not_ours(place: str) -> DataError:
    """Return the error about a file that holds something else."""
    return DataError(
        f"The file {place} is not a cellworth store, and was left as it is. Give another path, or "
        "remove the file if it is of no use."
    )


@dataclass(frozen=True)
class CampaignReader:
    """What `Store` promises about reading, within one transaction.

    Attributes
    ----------
    fetch : Fetch
    version : int
        Of the tables; 0 if there are none.
    place : str
        The address to show.
    """

    fetch: Fetch
    version: int
    place: str

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted by code point, whatever the server's locale."""
        if self.version == 0:
            return []
        return sorted(row["name"] for row in self.fetch("SELECT name FROM cellworth_campaign"))

    def stated(self, name: str) -> Stated:
        """Return what is stated about a campaign; DataError suggesting the closest name if there is none."""
        if is_keepable(name) and self.version > 0:
            checked = self.version >= CHECKED
            query = _STATED if checked else "SELECT name FROM cellworth_campaign WHERE name = :name"
            found = self.fetch(query, name=name)
            if found:
                return self._checked(name, found[0]) if checked else NOTHING_STATED
        known = self.names()
        hint = did_you_mean(name, known)
        there = f"The campaigns are {listing(known, most=10)}." if known else "It has no campaigns yet."
        raise DataError(f"There is no campaign {shorten(name)} in {self.place}.{hint} {there}")

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record. See `Store.record`."""
        self.stated(name)
        seal = "seal, " if self.version >= CHECKED else ""
        query = f"SELECT name, created, settings, digest, {seal}content FROM cellworth_campaign"
        (row,) = self.fetch(f"{query} WHERE name = :name", name=name)
        return record_from(row)

    def events(self, name: str, after: int, most: int | None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order, each checked. See `Store.events`."""
        after = max(after, 0)
        known = self.stated(name)
        if known.number == after or most == 0:
            return []
        # The event before the first is read too: the chain goes on from it.
        chain = ", chain" if self.version >= CHECKED else ""
        query = f'SELECT campaign, number, time, kind, who, "key", data{chain} FROM cellworth_event'
        query += " WHERE campaign = :name AND number >= :after ORDER BY number"
        if most is None:
            rows = self.fetch(query, name=name, after=after)
        else:
            rows = self.fetch(f"{query} LIMIT :most", name=name, after=after, most=most + (after > 0))
        check_rows(name, known, after, rows, most)
        return [event_from(row) for row in rows if row["number"] > after]

    def number_of(self, name: str, key: str) -> int | None:
        """Return the number of the event with a key; None if there is none. O(log N)."""
        if not is_keepable(key):
            return None
        self.stated(name)
        query = 'SELECT number FROM cellworth_event WHERE campaign = :name AND "key" = :key'
        found = self.fetch(query, name=name, key=key)
        return found[0]["number"] if found else None

    def blob(self, table: str, name: str, at_most: int, first: int | None = None) -> tuple[int, bytes] | None:
        """Return a campaign's cache or snapshot with its number; None if absent or newer than ``at_most``.

        If ``first`` is given, only that many of its bytes.
        """
        self.stated(name)
        if table == "cellworth_snapshot" and self.version < WITH_SNAPSHOTS:
            return None
        content = "content" if first is None else "substr(content, 1, :first) AS content"
        query = f"SELECT number, {content} FROM {table} WHERE campaign = :name AND number <= :at_most"
        of_part = {} if first is None else {"first": first}
        found = self.fetch(query, name=name, at_most=at_most, **of_part)
        return (int(found[0]["number"]), bytes(found[0]["content"])) if found else None

    def _checked(self, name: str, found: Mapping[str, Any]) -> Stated:
        if not isinstance(found["number"], int):
            raise DataError(
                f"Campaign {shorten(name)} in {self.place} is damaged: the number of its last event is not "
                f"stated. {HOW_TO_GO_ON}"
            )
        return Stated(found["seal"], found["number"], found["chain"])


def nothing_at(place: str) -> CampaignReader:
    """Return a reader of a store that nobody has written to."""
    return CampaignReader(lambda query, **values: [], 0, place)
