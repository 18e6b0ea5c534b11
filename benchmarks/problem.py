"""The data of the benchmarks: a noisy rank-5 table with holes, and labels that depend on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

RANK = 5
NOISE = 0.1  # standard deviation before scaling; that of the low-rank part is 1
OBSERVED = 0.6


class Problem(NamedTuple):
    """A table to complete, and what is needed to judge the result.

    Attributes
    ----------
    table : (n, d) array
        Columns scaled to [0, 1], with NaN in the holes.
    labels : (n,) array of -1.0 and +1.0
        A noisy linear function of the full table, split at its median.
    hidden : (n_holes,) array
        The true values of the holes, row by row.
    """

    table: Array
    labels: Array
    hidden: Array


def make_problem(n: int, d: int, seed: int = 0) -> Problem:
    """Return the problem for a given size and seed."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, RANK)) @ rng.standard_normal((RANK, d))
    table /= np.sqrt(RANK)
    noise = rng.standard_normal((n, d))
    noise *= NOISE
    table += noise
    rule = table @ rng.standard_normal(d)
    rule += 0.5 * rule.std() * rng.standard_normal(n)
    labels = np.where(rule > np.median(rule), 1.0, -1.0)
    smallest = table.min(axis=0)
    table -= smallest
    table /= table.max(axis=0)
    holes = rng.random((n, d), dtype=np.float32) >= OBSERVED
    hidden = table[holes]
    table[holes] = np.nan
    return Problem(table, labels, hidden)
