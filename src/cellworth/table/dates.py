"""Dates as days since 1970-01-01, a float whose fraction is the time of day, exact to the microsecond.

A time with a zone is converted to UTC; a time without one is used as is. Years run from 1 to 9999. People
may write them in another format, such as DD.MM.YYYY.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from cellworth.arrays import Float64Array
from cellworth.errors import ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import named

EPOCH = datetime(1970, 1, 1)
FIRST_DAY = float((datetime.min - EPOCH).days)
LAST_DAY = float((datetime.max - EPOCH).days)
LAST_MOMENT = math.nextafter(LAST_DAY + 1, 0.0)
DAY_IN_MICROSECONDS = 86_400_000_000

ISO_FORMATS = tuple(f"%Y-%m-%d{mark}%H:%M{rest}" for mark in "T " for rest in ("", ":%S", ":%S.%f"))
"""How ISO 8601 writes dates with a time; the third is the default."""

_ISO = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_SHORT = re.compile(r"%-([dmHIMSjy])")  # as of GNU; other systems do not know it
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?", re.ASCII)
_ONE_ISO = re.compile(_ISO, re.ASCII)
_DAY = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ].*)?", re.ASCII)
_LETTERS = {"YYYY": "%Y", "YY": "%y", "MM": "%m", "DD": "%d", "hh": "%H", "mm": "%M", "ss": "%S"}
_PARTS = re.compile("|".join(_LETTERS))
_DAY_AND_MONTH = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)")
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


def is_no_day(text: str) -> bool:
    """Return whether a text is written like a date, in any order of day, month and year, but none is on it.

    >>> is_no_day("31.2.2024"), is_no_day("2023-02-29"), is_no_day("29.2.2024"), is_no_day("1.5")
    (True, True, False, False)
    """
    found = _DAY.fullmatch(text)
    if found is None:
        return False
    first, middle, last = int(found[1]), int(found[3]), int(found[4])
    if len(found[1]) > 2:
        orders = [(first, middle, last)]
    else:
        year = last if len(found[4]) > 2 else 2000 + last
        orders = [(year, middle, first), (year, first, middle)]
    return not any(map(_is_day, orders))


def _is_day(parts: tuple[int, int, int]) -> bool:
    try:
        date(*parts)
    except ValueError:
        return False
    return True


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


def iso_format(texts: Iterable[str]) -> str | None:
    """Return the strftime format of ISO texts with a time, with as many digits as any of them has.

    None if none has a time, or if they are written as by default. Times with a zone are kept in UTC.

    >>> iso_format(["2020-01-01 10:30", "2020-01-02"])
    '%Y-%m-%d %H:%M'
    """
    timed = [text for text in texts if len(text) > 10]
    if not timed:
        return None
    digits = max(len(_TIME.match(text, 11)[0]) for text in timed)  # type: ignore[index]
    found = f"%Y-%m-%d{timed[0][10]}%H:%M" + (":%S" if digits > 5 else "") + (".%f" if digits > 8 else "")
    return None if found == ISO_FORMATS[2] else found


def is_iso(date_format: str) -> bool:
    """Return whether a format is one of `iso_format`."""
    return date_format in ISO_FORMATS


def write_in(date_format: str, moment: datetime) -> str:
    """Return a moment in a format of `strftime`; ``%-d`` and the like leave out leading zeros anywhere.

    >>> write_in("%-d.%-m.%Y", datetime(2020, 7, 4))
    '4.7.2020'
    """
    short = _SHORT.sub(lambda part: str(int(moment.strftime(f"%{part[1]}"))), date_format)
    return moment.strftime(short)


def read_in(date_format: str, text: str) -> datetime:
    """Return the moment of a text that `write_in` wrote, with leading zeros or without; else ValueError."""
    return datetime.strptime(text, _SHORT.sub(r"%\1", date_format))


def as_written(date_format: str, texts: Collection[str]) -> str:
    """Return a format as people used it for these texts: with leading zeros of days and months, or without.

    >>> as_written("%d.%m.%Y", ["4.7.2020", "12.12.2020"]), as_written("%d.%m.%Y", ["4.07.2020"])
    ('%-d.%-m.%Y', '%-d.%m.%Y')
    """
    days, months = date_format.replace("%d", "%-d"), date_format.replace("%m", "%-m")
    for each in (date_format, days.replace("%m", "%-m"), days, months):
        if all(write_in(each, read_in(each, text)) == text for text in texts):
            return each
    return date_format


def is_date_format(text: str) -> bool:
    """Return whether dates written in a `strftime` format, with a day, month and year, can be read again."""
    moment = datetime(2001, 12, 31, 23, 58, 59)
    try:
        return read_in(text, write_in(text, moment)).date() == moment.date()
    except ValueError:
        return False


def strptime_format(text: str) -> str:
    """Return a format for `datetime.strptime`, from one of its own or from one such as DD.MM.YYYY.

    >>> strptime_format("DD/MM/YY hh:mm"), strptime_format("%d.%m.%Y")
    ('%d/%m/%y %H:%M', '%d.%m.%Y')
    """
    found = text if "%" in text else _PARTS.sub(lambda part: _LETTERS[part[0]], text)
    if not is_date_format(found):
        raise ParameterError(
            f"{named('date_format')} must have a day, month and year, such as DD.MM.YYYY or %d.%m.%Y; got "
            f"{shorten(text)}."
        )
    return found


def likely_date_formats(texts: Collection[str]) -> tuple[str, ...]:
    """Return the formats that fit all texts, if they look like dates with a day, month and year; else none.

    >>> likely_date_formats(["26.08.2020", "4.7.2020"]), likely_date_formats(["04/07/2020"])
    (('DD.MM.YYYY',), ('DD/MM/YYYY', 'MM/DD/YYYY'))
    """
    parts = [_DAY_AND_MONTH.fullmatch(text) for text in texts]
    if not parts or None in parts:
        return ()
    first = parts[0]
    assert first is not None  # for the type checker
    mark, year = first[2], "Y" * len(first[4])
    found = (f"DD{mark}MM{mark}{year}", f"MM{mark}DD{mark}{year}")
    return tuple(each for each in found if all(map(date_reader(strptime_format(each)), texts)))


def date_reader(pattern: str) -> Callable[[str], str | None]:
    """Return a function that turns a text of this pattern into an ISO date, and other texts into None."""
    with_time = any(part in pattern for part in ("%H", "%I", "%M", "%S", "%X", "%c"))
    known: dict[str, str | None] = {}

    def read(text: str) -> str | None:
        if text not in known:
            try:
                moment = read_in(pattern, text)
                known[text] = moment.isoformat() if with_time else moment.date().isoformat()
            except ValueError:
                known[text] = None
        return known[text]

    return read


def restores(date_format: str, days: Float64Array, *, whole: bool) -> bool:
    """Return whether days (n,), NaN for holes, can be written in a format and read again; O(distinct days).

    False for a format that would read an ISO date as another day, and where ISO 8601 needs no format.
    """
    if is_iso(date_format):
        return not whole
    with contextlib.suppress(ValueError):
        read_in(date_format, "2001-02-03")
        return False
    different = np.unique(days[~np.isnan(days)])
    return all(_in_format(day, date_format) is not None for day in different.tolist())


def parse_formatted(text: str, date_format: str | None) -> float:
    """Convert a text in the user's format, or an ISO text, to days; ValueError if it is neither."""
    if date_format is not None and not is_iso(date_format):
        with contextlib.suppress(ValueError):
            return day_number(read_in(date_format, text))
    return parse_date(text)


def _in_format(day: float, date_format: str) -> str | None:
    """Return a day as text in a format; None if it would not come back."""
    text = write_in(date_format, EPOCH + timedelta(microseconds=_microseconds_of(day)))
    try:
        return text if day_number(read_in(date_format, text)) == day else None
    except ValueError:
        return None


def written_days(days: Float64Array, date_format: str | None, whole: bool) -> list[str]:
    """Return days (n,) as text in a format, or in ISO 8601 with more digits if they need them."""
    if date_format is not None and not is_iso(date_format):
        texts = written_days(days, None, whole)
        known = {day: _in_format(day, date_format) for day in set(days[~np.isnan(days)].tolist())}
        return [known.get(day) or text for day, text in zip(days.tolist(), texts, strict=True)]
    stamps = stamps_from_days(days)
    if whole:
        return np.datetime_as_string(stamps, unit="D").tolist()
    unit = "us"
    if date_format is not None:
        finest = 2 if "%f" in date_format else 1 if "%S" in date_format else 0
        fits = (
            unit
            for unit in ("m", "s", "us")[finest:]
            if np.all(np.isnat(stamps) | (stamps.astype(f"datetime64[{unit}]") == stamps))
        )
        unit = next(fits)
    found: list[str] = np.datetime_as_string(stamps, unit=unit).tolist()  # type: ignore[call-overload]
    separator = "T" if date_format is None else date_format[8]
    return found if separator == "T" else [text.replace("T", separator) for text in found]


def format_day(days: float, whole: bool) -> date:
    """Convert days back to a date if `whole`, otherwise to a datetime without a zone."""
    moment = EPOCH + timedelta(microseconds=_microseconds_of(days))
    return moment.date() if whole else moment


def _microseconds_of(days: float) -> int:
    return int(_microseconds_from_days(np.array([days]))[0])


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
