"""Checks of the settings of scorers."""

from __future__ import annotations

import numpy as np

from cellworth.errors import ParameterError


def check_whole_number(name: str, value: object, minimum: int, *, or_none: bool = False) -> None:
    """Refuse a setting that is not a whole number of at least ``minimum`` (nor, if that is right, None)."""
    if or_none and value is None:
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < minimum:
        also = "None or " if or_none else ""
        raise ParameterError(f"{name} must be {also}a whole number of at least {minimum}; got {value!r}")
