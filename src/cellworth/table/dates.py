"""Dates as days since 1970-01-01, a float whose fraction is the time of day, exact to the microsecond.

A time with a zone is converted to UTC; a time without one is used as is. Years run from 1 to 9999.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from cellworth.arrays import Float64Array

EPOCH = datetime(1970, 1, 1)
FIRST_DAY = float((datetime.min - EPOCH).days)
LAST_DAY = float((datetime.max - EPOCH).days)
LAST_MOMENT = math.nextafter(LAST_DAY + 1, 0.0)
DAY_IN_MICROSECONDS = 86_400_000_000

_ISO = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_ONE_ISO = re.compile(_ISO, re.ASCII)
_ONLY_ISO = re.compile(rf"(?:{_ISO}\n)+", re.ASCII)


def day_number(value: date) -> float:
    """Convert a date or datetime to days since 1970-01-01; ValueError outside the years 1 to 9999."""
    if not isinstance(value, datetime):
        return float(value.toordinal() - EPOCH.toordinal())
    try:
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError as error:
        raise ValueError(f"{value} is outside the years 1 to 9999 in UTC") from error
    gap = moment - EPOCH
    days = gap.days + (gap.seconds * 1_000_000 + gap.microseconds) / DAY_IN_MICROSECONDS
    if days > LAST_MOMENT:  # the last microseconds of the year 9999 round up to the year 10000
        raise ValueError(f"{value} is outside the years 1 to 9999")
    return days


def parse_date(text: str) -> float:
    """Convert one ISO text to days; ValueError if it is not a date."""
    if _ONE_ISO.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not an ISO date")
    return day_number(datetime.fromisoformat(text))


def is_date(text: str) -> bool:
    """Return whether the text is an ISO date that exists."""
    try:
        parse_date(text)
    except ValueError:
        return False
    return True


def looks_like_date(text: str) -> bool:
    """Return whether the text has the form of an ISO date, even if the date does not exist."""
    return _ONE_ISO.fullmatch(text) is not None


def parse_dates(texts: Sequence[str]) -> Float64Array | None:
    """Convert ISO texts to days, all at once; None if any text is not a date."""
    joined = "\n".join(texts) + "\n"
    if _ONLY_ISO.fullmatch(joined) is None:
        return None
    try:
        if len(joined) == 11 * len(texts):  # no times, the usual case: NumPy parses all at once
            return days_from_stamps(np.array(texts, dtype="datetime64[D]"))
        return np.fromiter(map(parse_date, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None


def days_from_stamps(stamps: npt.NDArray[np.datetime64]) -> Float64Array:
    """Convert NumPy datetimes of any unit to days, NaT to NaN; ValueError outside the years 1 to 9999."""
    holes = np.isnat(stamps)
    whole = stamps.astype("datetime64[D]").astype(np.int64)
    if np.any(~holes & ((whole < FIRST_DAY) | (whole > LAST_DAY))):
        raise ValueError("a date is outside the years 1 to 9999")
    micros = np.where(holes, np.datetime64(0, "us"), stamps.astype("datetime64[us]")).astype(np.int64)
    days = _days_from_microseconds(micros)
    if np.any(~holes & (days > LAST_MOMENT)):
        raise ValueError("a date is outside the years 1 to 9999")
    days[holes] = np.nan
    return days


def stamps_from_days(days: Float64Array) -> npt.NDArray[np.datetime64]:
    """Convert days to NumPy datetimes in microseconds, NaN to NaT."""
    holes = np.isnan(days)
    stamps: npt.NDArray[np.datetime64] = _microseconds_from_days(np.where(holes, 0.0, days)).astype(
        "datetime64[us]"
    )
    stamps[holes] = np.datetime64("NaT")
    return stamps


def to_microsecond(days: Float64Array) -> Float64Array:
    """Round to the nearest microsecond within the years 1 to 9999; whole microseconds stay unchanged."""
    return _days_from_microseconds(_microseconds_from_days(np.clip(days, FIRST_DAY, LAST_MOMENT)))


def format_day(days: float, whole: bool) -> date:
    """Convert days back to a date if `whole`, otherwise to a datetime without a zone."""
    moment = EPOCH + timedelta(microseconds=int(_microseconds_from_days(np.array([days]))[0]))
    return moment.date() if whole else moment


def _days_from_microseconds(micros: npt.NDArray[np.int64]) -> Float64Array:
    # Day and time of day are separate and exact, so only the final addition rounds.
    day, rest = np.divmod(micros, DAY_IN_MICROSECONDS)
    days: Float64Array = day + rest / DAY_IN_MICROSECONDS
    return days


def _microseconds_from_days(days: Float64Array) -> npt.NDArray[np.int64]:
    day = np.floor(days)
    rest: Any = np.rint((days - day) * DAY_IN_MICROSECONDS)
    micros: npt.NDArray[np.int64] = day.astype(np.int64) * DAY_IN_MICROSECONDS + rest.astype(np.int64)
    return micros
