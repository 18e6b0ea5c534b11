"""Currencies: how many digits their amounts have, and how amounts are shown."""

from __future__ import annotations

import re

from cellworth.errors import CellworthError, ParameterError
from cellworth.messages import shorten
from cellworth.prices.money import Money
from cellworth.shown_numbers import reworded, shown

_CODE = re.compile("[A-Z]{3}")
_DOLLARS_AND_PESOS = (
    "ARS AUD BBD BMD BND BRL BSD BZD CAD CLP COP CUP CVE DOP FJD GYD HKD JMD KYD LRD MOP MXN NAD NIO NZD SBD "
    "SGD SRD TOP TTD TWD USD UYU WST XCD"
)
_SIGNS = {
    "\N{EURO SIGN}": frozenset({"EUR"}),
    "\N{POUND SIGN}": frozenset({"GBP"}),
    "$": frozenset(_DOLLARS_AND_PESOS.split()),
    "\N{YEN SIGN}": frozenset({"CNY", "JPY"}),
}
"""The currencies that each sign may mean."""
_BESIDE = re.compile(rf"(?:[A-Z]{{3}}|[{''.join(_SIGNS)}])\s*(?=[-+\d])")
_BEHIND = re.compile(rf"(?<=\d)\s*(?:[A-Z]{{3}}|[{''.join(_SIGNS)}])$")
_USUAL = 2
_DIGITS = (
    dict.fromkeys(
        (
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "ISK",
            "JPY",
            "KMF",
            "KRW",
            "PYG",
            "RWF",
            "UGX",
            "VND",
            "VUV",
            "XAF",
            "XOF",
            "XPF",
        ),
        0,
    )
    | dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3)
    | dict.fromkeys(("CLF", "UYW"), 4)
)
"""ISO 4217: the currencies whose amounts do not have two digits after the point."""
MOST_SHOWN = 6
"""Without a currency, an amount is shown with all of its decimals up to this many, and at least two."""


def check_currency(code: object, problem: type[CellworthError] = ParameterError) -> str:
    """Return a currency's code if it is three capital letters; otherwise raise ``problem``."""
    if isinstance(code, str) and _CODE.fullmatch(code):
        return code
    raise problem(f"a currency must be a code of three capital letters, such as EUR; got {shorten(code)}.")


def without_currency(text: str) -> tuple[str, str | None]:
    """Return an amount's text without a sign or code of a currency beside it, and that one.

    >>> without_currency("12,50 \N{EURO SIGN}"), without_currency("$3"), without_currency("CHF 4.20")
    (('12,50', '€'), ('3', '$'), ('4.20', 'CHF'))
    """
    for mark in (_BESIDE.match(text), _BEHIND.search(text)):
        if mark is not None:
            return (text[: mark.start()] + text[mark.end() :]).strip(), mark[0].strip()
    return text, None


def currency_of(mark: str) -> str | None:
    """Return the code of a currency by its code or sign; None for a sign that several countries use."""
    codes = _meanings(mark)
    return next(iter(codes)) if len(codes) == 1 else None


def may_be_one_currency(mark: str, other: str) -> bool:
    """Return whether two codes or signs may mean the same currency.

    >>> may_be_one_currency("$", "CAD"), may_be_one_currency("$", "EUR"), may_be_one_currency("EUR", "CHF")
    (True, False, False)
    """
    return not _meanings(mark).isdisjoint(_meanings(other))


def _meanings(mark: str) -> frozenset[str]:
    return frozenset({mark}) if _CODE.fullmatch(mark) else _SIGNS[mark]


def digits_of(currency: str) -> int:
    """Return how many digits amounts have after the point.

    >>> digits_of("EUR"), digits_of("JPY"), digits_of("KWD")
    (2, 0, 3)
    """
    return _DIGITS.get(currency, _USUAL)


def check_digits(
    amount: float, currency: str | None, what: str, problem: type[CellworthError] = ParameterError
) -> float:
    """Return an amount if it is a whole number of the currency's smallest units; else raise ``problem``."""
    if currency is not None and _decimals(amount) > digits_of(currency):
        digits = digits_of(currency)
        raise problem(
            f"{what} must have at most {digits} digits after the point, as amounts in {currency} do; got "
            f"{reworded(repr(amount))}."
        )
    return amount


def money_text(amount: float, currency: str | None = None) -> str:
    """Return an amount as people write it: with the digits of its currency, or else with its own decimals.

    >>> money_text(7.5, "EUR"), money_text(1200, "JPY"), money_text(0.5), money_text(0.125)
    ('7.50 EUR', '1200 JPY', '0.50', '0.125')
    """
    if currency is not None:
        return f"{shown(amount, f'.{digits_of(currency)}f')} {currency}"
    decimals = _decimals(amount)
    return shown(amount, f".{decimals if 2 < decimals <= MOST_SHOWN else 2}f")


def in_currency(words: str, currency: str | None) -> str:
    """Return the label of an axis or column of amounts, with their currency if it has one.

    >>> in_currency("money spent", "EUR"), in_currency("money spent", None)
    ('money spent (EUR)', 'money spent')
    """
    return words if currency is None else f"{words} ({currency})"


def _decimals(amount: float) -> int:
    return Money(amount).decimals
