"""Hide some observed cells, to see how well a setting fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]

SHARE = 0.1  # of the observed cells are hidden
MOST_ROWS = 10_000  # rows that are looked at: settings found on so many hold for more
PATIENCE = 3  # settings in a row without a gain before a search ends


@dataclass(frozen=True)
class HeldOut:
    """Rows of a scaled table with some of their cells hidden.

    Attributes
    ----------
    values : (n, d) array
        0 in the holes and in the hidden cells.
    observed, hidden : (n, d) bool arrays
        No cell is both.
    truth : (n_hidden,) array
        The values of the hidden cells, in row order.
    """

    values: Array
    observed: Mask
    hidden: Mask
    truth: Array

    def error(self, estimate: Array) -> float:
        """Return the root mean square error of ``estimate`` (n, d) in the hidden cells, in scaled units."""
        if not self.truth.size:
            return 0.0
        return float(np.sqrt(np.mean((estimate[self.hidden] - self.truth) ** 2)))


class Choice(NamedTuple):
    """A rank, and a ridge or penalty in units of the data."""

    rank: int
    relative: float


def hold_out(values: Array, observed: Mask, rng: np.random.Generator) -> HeldOut:
    """Hide a tenth of the observed cells of at most `MOST_ROWS` rows, but never a column's first.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    observed : (n, d) bool array
    """
    if len(values) > MOST_ROWS:
        rows = np.sort(rng.choice(len(values), MOST_ROWS, replace=False))
        values, observed = values[rows], observed[rows]
    hidden = observed & (rng.random(values.shape) < SHARE)
    hidden[observed.argmax(axis=0), np.arange(values.shape[1])] = False
    return HeldOut(values * ~hidden, observed & ~hidden, hidden, values[hidden])
