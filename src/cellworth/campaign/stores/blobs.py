"""The blobs that a database keeps for a campaign, each derived from its events up to some number."""

from __future__ import annotations

from sqlalchemy import Connection, TableClause, select, text


def save_blob(connection: Connection, table: TableClause, name: str, number: int, blob: bytes) -> None:
    """Save a blob in place of the one that is there, unless that one is of a later event; O(its size)."""
    statement = text(
        f"INSERT INTO {table.name} (campaign, number, content) VALUES (:campaign, :number, :content)"
        " ON CONFLICT (campaign) DO UPDATE SET number = excluded.number, content = excluded.content"
        f" WHERE {table.name}.number <= excluded.number"
    )
    connection.execute(statement, {"campaign": name, "number": number, "content": blob})


def load_blob(
    connection: Connection, table: TableClause, name: str, at_most: int
) -> tuple[int, bytes] | None:
    """Return a campaign's blob with its number; None if it is absent or newer than ``at_most``."""
    wanted = (table.c.campaign == name) & (table.c.number <= at_most)
    row = connection.execute(select(table.c.number, table.c.content).where(wanted)).one_or_none()
    return None if row is None else (int(row.number), bytes(row.content))
