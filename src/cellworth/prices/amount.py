"""One price as the user states it: checked, and turned into a float."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real

import numpy as np

from cellworth.errors import CellworthError, ParameterError
from cellworth.wording import shorten

Problem = type[CellworthError]


def check_price(value: object, what: str, problem: Problem = ParameterError) -> float:
    """Return a price as a float if it is a positive, finite number; raise ``problem`` with its name if not.

    >>> check_price(2, "the price of 'age'")
    2.0
    """
    amount = _number(value)
    if amount is None or not (math.isfinite(amount) and amount > 0):
        raise problem(f"{what} must be a positive, finite number; got {_shown(value)}.{_remedy(amount)}")
    return amount


def check_visit(
    value: object, problem: Problem = ParameterError, what: str = "the price of a visit"
) -> float:
    """Return the price of a visit as a float if it is finite and not negative; ``problem`` if not."""
    amount = _number(value)
    if amount is None or not (math.isfinite(amount) and amount >= 0):
        raise problem(f"{what} must be a finite number, 0 for none or more; got {_shown(value)}.")
    return amount


def check_prices(prices: Mapping[str, object], what: str) -> dict[str, float]:
    """Return a mapping of column names to prices with every price checked; ``what`` is as "the price"."""
    if not isinstance(prices, Mapping):
        raise ParameterError(
            f"expected a mapping of column names to prices, such as {{'age': 1.0}}; got {_shown(prices)}."
        )
    return {
        check_name(name): check_price(price, f"{what} of column {shorten(name)}")
        for name, price in prices.items()
    }


def check_name(name: object, noun: str = "column") -> str:
    """Return the name of a column or group if it is a text with something in it."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"the name of a {noun} must be a text that is not blank; got {_shown(name)}.")
    return name


def _number(value: object) -> float | None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: object) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else shorten(value)


def _remedy(amount: float | None) -> str:
    return " A cell that costs nothing needs no choice: ask for it at once." if amount == 0 else ""
