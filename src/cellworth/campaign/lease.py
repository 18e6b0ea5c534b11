"""How long a cell stays with whoever asked for it."""

from __future__ import annotations

import re
from datetime import timedelta

from cellworth.errors import ParameterError
from cellworth.wording import shorten

_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_TEXT = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*([dhm])")


def parse_lease(lease: object) -> timedelta | None:
    """Return a lease as a span of time, None for one that never runs out.

    >>> parse_lease("12h"), parse_lease(None)
    (datetime.timedelta(seconds=43200), None)
    """
    if lease is None:
        return None
    span = lease if isinstance(lease, timedelta) else _from_text(lease)
    if span is None or span <= timedelta(0):
        raise ParameterError(
            "a lease must be a time such as '7d', '12h' or '30m', a positive timedelta, or None for never; "
            f"got {shorten(lease)}."
        )
    return span


def _from_text(lease: object) -> timedelta | None:
    found = _TEXT.fullmatch(lease.strip()) if isinstance(lease, str) else None
    return None if found is None else timedelta(**{_UNITS[found[2]]: float(found[1])})
