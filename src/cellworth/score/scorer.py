"""The input and output of a scorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.cached_property import cached_property
from cellworth.complete.linear_model import LinearModel
from cellworth.complete.scaling import Scaling
from cellworth.errors import ParameterError
from cellworth.table.target import LabelKind

State = dict[str, Any]
"""Arrays, numbers, strings and None by name: everything a scorer remembers of earlier rounds."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a campaign or simulation, as a scorer sees it: a table just completed.

    Attributes
    ----------
    X : (n, d) array
        The encoded table, NaN in its holes, in the user's units. Between rounds holes are filled, rows may
        be added at the end, and known values are occasionally corrected.
    y : (n,) array or None
        The labels, NaN where missing: class codes 0, 1, ..., or numbers.
    target : {"classes", "number"} or None
        What y holds.
    completer : fitted completer
        Fitted to X and y: has ``completed_`` (n, d), and ``variance_`` (n, d) if it provides one.
    rng : Generator
        This round's generator; the same in a replay.
    prices : (n, d) array or None
        What each cell costs if bought alone, without visits; the columns of a category share its price. None
        if all cells cost the same.
    label_prices : (n,) array or None
        What each label costs if bought alone; None if labels cannot be bought.
    """

    X: Float64Array
    y: Float64Array | None
    target: LabelKind | None
    completer: Any
    rng: np.random.Generator = field(repr=False)
    prices: Float64Array | None = None
    label_prices: Float64Array | None = None

    @cached_property
    def holes(self) -> BoolArray:
        """(n, d) bool, True where X has no value."""
        return np.isnan(self.X)

    @property
    def unlabelled(self) -> BoolArray:
        """(n,) bool, True where the row has no label."""
        return np.ones(len(self.X), dtype=bool) if self.y is None else np.isnan(self.y)

    @property
    def completed(self) -> Float64Array:
        """(n, d), the table without holes."""
        return np.asarray(self.completer.completed_, dtype=np.float64)

    @property
    def squared_ranges(self) -> Float64Array:
        """(d,), (max - min)^2 of the observed cells of each column; 1 for a constant column.

        Dividing a squared distance by it is equivalent to scaling each column to [0, 1] first, as the paper
        does.
        """
        return np.square(Scaling.of(self.X, "minmax").width)

    @property
    def column_variances(self) -> Float64Array:
        """(d,), the variance of the observed cells of each column; 1 for a constant column."""
        return np.square(Scaling.of(self.X, "standard").width)

    @property
    def labels(self) -> Float64Array | None:
        """The labels y (n,) for completers; None if there is nothing to learn from them.

        Completers reject labels that are all missing or of one class, since passing them is probably a
        mistake. At the start of a campaign, such labels are normal.
        """
        if self.y is None:
            return None
        known = self.y[~np.isnan(self.y)]
        least = 2 if self.target == "classes" else 1
        return self.y if len(np.unique(known)) >= least else None

    def fit_linear_model(self) -> LinearModel:
        """Fit a model of the target to the completed table, which links scorers to the labels."""
        y = None if self.target is None else self.y
        return LinearModel.fit(self.completed, y, is_number=self.target == "number")


class Scorer(Protocol):
    """Score each hole by its worth. Created once per campaign; `score` is called once per round, in order."""

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d): finite, nonnegative, 0 where observed; higher is better.

        If labels can be bought, they may be (n, d + 1), with the worth of the rows' labels last, in the same
        currency; a scorer that returns (n, d) buys no labels.
        """
        ...

    def state(self) -> State:
        """Return everything kept from earlier rounds, or {} if nothing is. Later rounds do not modify it."""
        ...

    def restore(self, state: State) -> None:
        """Continue from a state: the next scores are bitwise those that the original scorer would give."""
        ...


class Memoryless:
    """Mixin for a scorer that looks at one round only; its state is ``{}``."""

    def state(self) -> State:
        """Return ``{}``, since nothing is remembered."""
        return {}

    def restore(self, state: State) -> None:
        """Do nothing, since nothing is remembered."""


def check_whole_number(name: str, value: object, minimum: int, *, or_none: bool = False) -> None:
    """Raise unless a setting is an integer of at least ``minimum``, or None if ``or_none``."""
    if or_none and value is None:
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < minimum:
        also = "None or " if or_none else ""
        raise ParameterError(f"{name} must be {also}a whole number of at least {minimum}; got {value!r}")
