"""Checks of the settings of a `GaussianCompleter`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cellworth.complete.inputs import check_number
from cellworth.errors import ParameterError

DENSE_COLUMNS = 200  # factors="auto": a full covariance up to this many columns
AUTO_FACTORS = 20  # and at most this many factors beyond


def check_settings(completer: Any) -> None:
    """Refuse settings that make no sense, with those that do."""
    check_number("shrinkage", completer.shrinkage, minimum=0)
    check_number("tol", completer.tol, minimum=0)
    check_number("max_iter", completer.max_iter, minimum=1)
    if completer.factors not in (None, "auto"):
        check_number("factors", completer.factors, minimum=1)
    if completer.margins not in ("auto", "normal", "rank"):
        raise ParameterError(f"margins must be 'auto', 'normal' or 'rank'; got {completer.margins!r}")
    if completer.label_trust != "auto":
        check_number("label_trust", completer.label_trust, minimum=0)
        if completer.label_trust > 1:
            raise ParameterError(f"label_trust must be at most 1, or 'auto'; got {completer.label_trust!r}")
    if completer.dtype is not None and np.dtype(completer.dtype) not in (np.float32, np.float64):
        raise ParameterError(f"dtype must be None, float32 or float64; got {completer.dtype!r}")


def factor_count(factors: int | Literal["auto"] | None, shape: tuple[int, int]) -> int | None:
    """Return how many factors a table of this shape gets; None for a full covariance."""
    if factors is None or (factors == "auto" and shape[1] <= DENSE_COLUMNS):
        return None
    most = max(1, min(shape) - 1)
    return min(AUTO_FACTORS if factors == "auto" else int(factors), most)
