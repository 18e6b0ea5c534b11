"""Numbers as JSON has them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return data made of dicts, lists, texts, booleans and finite numbers; what is not finite becomes None.

    Takes arrays, NumPy's numbers, data classes and dates as well, at any depth. O(size).

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan]), "b": np.int64(3)})
    {'a': [1.0, None], 'b': 3}
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")
