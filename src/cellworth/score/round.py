"""What a scorer is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
LabelKind = Literal["classes", "number"]
State = dict[str, Any]
"""Arrays, numbers, texts and None by name: all that a scorer remembers of earlier rounds."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a campaign or simulation, as a scorer sees it: a table just completed.

    Attributes
    ----------
    X : (n, d) array
        The encoded table, NaN in its holes, in the user's units. From round to round holes are filled,
        rows may be added at the end, and now and then a known value is corrected.
    y : (n,) array or None
        The labels, NaN where missing: class codes 0, 1, ..., or numbers.
    target : {"classes", "number"} or None
        What y holds.
    completer : fitted completer
        Fitted on X and y: ``completed_`` (n, d), and ``variance_`` (n, d) where it has one.
    rng : Generator
        This round's own: the same in a replay.
    """

    X: Array
    y: Array | None
    target: LabelKind | None
    completer: Any
    rng: np.random.Generator = field(repr=False)

    @cached_property
    def holes(self) -> Mask:
        """(n, d) bool, True where X has no value."""
        return np.isnan(self.X)

    @property
    def completed(self) -> Array:
        """(n, d), the table without holes."""
        return np.asarray(self.completer.completed_, dtype=np.float64)


class Scorer(Protocol):
    """Says what each hole is worth. Made once per campaign; `score` is called once per round, in order."""

    def score(self, round: Round) -> Array:
        """Return the worths (n, d): finite, never negative, 0 where observed; bigger is better."""
        ...

    def state(self) -> State:
        """Return all that is remembered of earlier rounds; {} if nothing is. Later rounds leave it alone."""
        ...

    def restore(self, state: State) -> None:
        """Go on from a state: the next scores are those that its owner would have given, to the bit."""
        ...
