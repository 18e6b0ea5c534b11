"""A block of a completed table, and functions of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.source import Block, Part

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Filled:
    """Some rows of a completed table.

    Attributes
    ----------
    part : Part
        As they were read.
    completed : (m, d) array
    variance : (m, d) array or None
        Of each cell, 0 where observed.
    """

    part: Part
    completed: Array
    variance: Array | None

    @property
    def holes(self) -> NDArray[np.bool_]:
        """(m, d) bool, True where the table has no value."""
        return np.isnan(self.part.X)


@dataclass(frozen=True)
class OnFilled:
    """Reads a block, completes it, and calls a function on what came out.

    Attributes
    ----------
    function : callable
        Of a `Filled`, and of what else is passed.
    fill : callable
        Of a `Part` and of the states of its block.
    n_states : int
    """

    function: Callable[..., Any]
    fill: Callable[..., tuple[Array, Array | None]]
    n_states: int

    def __call__(self, block: Block, *others: Any) -> Any:
        """Return the function's result on the completed block."""
        part = block.read()
        completed, variance = self.fill(part, *others[: self.n_states])
        return self.function(Filled(part, completed, variance), *others[self.n_states :])
