"""The language of a page: one catalogue of texts, and numbers and money as its readers write them."""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from cellworth.prices.currency import in_currency, money_text
from cellworth.table import Column

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages of the pages, each by its own name; English is the source."""
COOKIE = "cellworth_language"
COOKIE_SECONDS = 365 * 24 * 3600
LEAST_SHOWN = 0.001
"""Nobody needs the digits of a worth below it."""
_LOCALE = Path(__file__).parent / "locale"
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_POINTS = {"en": (",", "."), "de": (".", ",")}  # thousands, decimals


def message(text: str) -> str:
    """Mark a text of the pages for the catalogue, and return it; it is translated where it is shown."""
    return text


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the catalogue of a language."""
    return gettext.translation("pages", _LOCALE, [language], fallback=language == "en")


def translated(text: str, language: str) -> str:
    """Return a text of the catalogue in a language; any other text, and a blank, as it is."""
    return catalogue(language).gettext(text) if text else text


def chosen_language(cookies: Mapping[str, str], accepted: str) -> str:
    """Return the language to speak: the one chosen with the switch, or the first accepted that we have.

    >>> chosen_language({}, "fr;q=0.9, de-CH, en;q=0.8"), chosen_language({COOKIE: "en"}, "de")
    ('de', 'en')
    """
    if cookies.get(COOKIE) in LANGUAGES:
        return cookies[COOKIE]
    wishes = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, weight = part.partition(";")
        try:
            wishes.append((-float(weight.strip().removeprefix("q=") or 1), place, tag.strip().lower()[:2]))
        except ValueError:
            continue
    return next((tag for _, _, tag in sorted(wishes) if tag in LANGUAGES), "en")


def shown_value(value: object, column: Column | str | None, language: str) -> str:
    """Return a value of a column, or a guess of one, as the readers of a language write it.

    Dates are written as in the column's file, as in messages and exports, if that has a format of its own.
    Without a column, its kind will do.

    >>> shown_value(True, "boolean", "en"), shown_value("1.5", "number", "de"), shown_value("1.5", None, "de")
    ('yes', '1,5', '1.5')
    >>> shown_value(12.0, "number", "en")
    '12'
    >>> shown_value("2023-11-08", "date", "de"), shown_value("2023-11-08T07:30:00", "date", "de")
    ('08.11.2023', '08.11.2023 07:30:00')
    """
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    if isinstance(column, Column) and column.kind == "date" and column.date_format is not None:
        return column.text_of(value)
    kind = column.kind if isinstance(column, Column) else column
    if kind == "date" and language == "de":
        return _DAY.sub(r"\3.\2.\1", text).replace("T", " ")
    if kind == "boolean":
        return translated("yes" if text.casefold() in ("true", "yes", "1") else "no", language)
    return text.replace(".", _POINTS[language][1]) if kind == "number" else text


def read_number(text: str, language: str) -> str:
    """Return a number that is written in English as the readers of a language write it.

    >>> read_number("1,234.5", "de")
    '1.234,5'
    """
    thousands, point = _POINTS[language]
    return text.translate({ord(","): thousands, ord("."): point})


class ReaderNumbers:
    """Numbers as the readers of a language write them; ``currency`` is that of the money, if it has one.

    Examples
    --------
    >>> ReaderNumbers("de", "EUR").money(1234.5), ReaderNumbers("en").signed(-0.0001)
    ('1.234,50 EUR', '0.000')
    >>> ReaderNumbers("de").day("2026-01-05T07:30:00"), ReaderNumbers("en").day("2026-01-05")
    ('05.01.2026', '5 Jan 2026')
    """

    def __init__(self, language: str, currency: str | None = None) -> None:
        self._language = language
        self._thousands, self._point = _POINTS[language]
        self._currency = currency

    def money(self, amount: float | None) -> str:
        """Return an amount with thousands marks and its currency; "" for None."""
        if amount is None:
            return ""
        plain, _, currency = money_text(amount, self._currency).partition(" ")
        whole, _, decimals = plain.partition(".")
        text = f"{int(whole):,}" if whole not in ("-0", "-") else "-0"
        text = text.replace(",", self._thousands) + (self._point + decimals if decimals else "")
        return f"{text} {currency}" if currency else text

    def in_currency(self, words: str) -> str:
        """Return the label of an axis of amounts, with their currency."""
        return in_currency(words, self._currency)

    def count(self, number: int) -> str:
        """Return a whole number with thousands marks."""
        return f"{number:,}".replace(",", self._thousands)

    def score(self, value: float, decimals: int = 3) -> str:
        """Return a score; what rounds to zero has no sign."""
        return self._pointed(f"{value:.{decimals}f}")

    def signed(self, value: float, decimals: int = 3) -> str:
        """Return a difference with its sign; what rounds to zero has none."""
        text = f"{value:+.{decimals}f}"
        return self._pointed(text[1:] if float(text) == 0 else text)

    def short(self, value: float, digits: int = 2) -> str:
        """Return a number with so many significant digits; one that is almost zero as less than another."""
        if 0 < abs(value) < LEAST_SHOWN:
            return f"<{self._pointed(str(LEAST_SHOWN))}"
        text = f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
        return self._pointed(text)

    def percent(self, share: float) -> str:
        """Return a share as a whole percentage."""
        return f"{100 * share:.0f} %"

    def day(self, iso: str) -> str:
        """Return the day of a date or time in ISO format."""
        year, month, day = iso[:10].split("-")
        return (
            f"{day}.{month}.{year}"
            if self._language == "de"
            else f"{int(day)} {_MONTHS[int(month) - 1]} {year}"
        )

    def moment(self, time: datetime) -> str:
        """Return a date and the time of the day, without its zone."""
        return f"{self.day(time.isoformat())}, {time:%H:%M}"

    def _pointed(self, text: str) -> str:
        text = text[1:] if text.startswith("-") and not text.strip("-0.,") else text
        return read_number(text, self._language)
