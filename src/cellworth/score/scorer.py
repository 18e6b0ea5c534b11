"""What a scorer is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete.linear_model import LinearModel
from cellworth.complete.scaling import Scaling
from cellworth.errors import ParameterError
from cellworth.table.target import LabelKind

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

    X: Float64Array
    y: Float64Array | None
    target: LabelKind | None
    completer: Any
    rng: np.random.Generator = field(repr=False)

    @cached_property
    def holes(self) -> BoolArray:
        """(n, d) bool, True where X has no value."""
        return np.isnan(self.X)

    @property
    def completed(self) -> Float64Array:
        """(n, d), the table without holes."""
        return np.asarray(self.completer.completed_, dtype=np.float64)

    @property
    def squared_ranges(self) -> Float64Array:
        """(d,), (max - min)^2 of the observed cells of each column; 1 for a constant column.

        Dividing a squared distance by it is the same as scaling each column to [0, 1] first, as the paper
        does.
        """
        return np.square(Scaling.of(self.X, "minmax").width)

    @property
    def column_variances(self) -> Float64Array:
        """(d,), the variance of the observed cells of each column; 1 for a constant column."""
        return np.square(Scaling.of(self.X, "standard").width)

    @property
    def labels(self) -> Float64Array | None:
        """The labels y (n,) as completers take them; None where there is nothing to learn from them.

        Completers refuse labels that are all missing or of one class, since a user who passes them has
        probably made a slip. In a campaign that has just begun they are normal.
        """
        if self.y is None:
            return None
        known = self.y[~np.isnan(self.y)]
        least = 2 if self.target == "classes" else 1
        return self.y if len(np.unique(known)) >= least else None

    def fit_linear_model(self) -> LinearModel:
        """Fit a model of the target on the completed table: what scorers look through to the labels."""
        y = None if self.target is None else self.y
        return LinearModel.fit(self.completed, y, is_number=self.target == "number")


class Scorer(Protocol):
    """Says what each hole is worth. Made once per campaign; `score` is called once per round, in order."""

    def score(self, this_round: Round) -> Float64Array:
        """Return the worths (n, d): finite, never negative, 0 where observed; bigger is better."""
        ...

    def state(self) -> State:
        """Return all that is remembered of earlier rounds; {} if nothing is. Later rounds leave it alone."""
        ...

    def restore(self, state: State) -> None:
        """Go on from a state: the next scores are those that its owner would have given, to the bit."""
        ...


class Memoryless:
    """The state of a scorer that looks at one round only: ``{}``."""

    def state(self) -> State:
        """Return ``{}``: nothing is remembered."""
        return {}

    def restore(self, state: State) -> None:
        """Do nothing: nothing is remembered."""


def check_whole_number(name: str, value: object, minimum: int, *, or_none: bool = False) -> None:
    """Refuse a setting that is not a whole number of at least ``minimum`` (nor, if that is right, None)."""
    if or_none and value is None:
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < minimum:
        also = "None or " if or_none else ""
        raise ParameterError(f"{name} must be {also}a whole number of at least {minimum}; got {value!r}")
