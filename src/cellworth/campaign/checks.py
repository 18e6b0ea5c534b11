"""Checks of what people pass beside cells and values."""

from __future__ import annotations

from datetime import UTC, datetime

from cellworth.errors import ParameterError
from cellworth.wording import shorten


def check_text(what: str, text: object) -> str:
    """Return a text that is not blank; ParameterError if it is something else."""
    if isinstance(text, str) and text.strip():
        return text
    raise ParameterError(f"{what} must be a text that is not blank; got {shorten(text)}.")


def check_optional_text(what: str, text: object) -> str | None:
    """Return a text that is not blank, or None."""
    return None if text is None else check_text(what, text)


def check_moment(until: object) -> int | datetime:
    """Return the number of an event, or a time in UTC."""
    if isinstance(until, datetime) and until.tzinfo is not None:
        return until.astimezone(UTC)
    if isinstance(until, int) and not isinstance(until, bool) and until >= 0:
        return until
    raise ParameterError(
        f"until must be the number of an event, or a time with its time zone; got {shorten(until)}."
    )
