"""How a search goes, for programs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchProgress:
    """What the callback of a search is told.

    Attributes
    ----------
    done, total : int
        Fits done and planned, that of the chosen candidate on the whole table included.
    name : str
        The candidate just tried.
    error : float
        Of the last fit, in units of the columns' variances; NaN if it failed, and at the end.
    seconds : float
        Since the search began.
    """

    done: int
    total: int
    name: str
    error: float
    seconds: float
