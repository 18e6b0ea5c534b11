"""The trace penalty: given, or chosen on hidden cells along a path of decreasing penalties.

`PenalisedCompleter` is the base class of completers of dense tables that have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, FloatArray
from cellworth.complete.factored_completer import FactoredCompleter, check_rank
from cellworth.complete.hold_out import PATIENCE, Choice, HeldOut, hold_out
from cellworth.complete.inputs import check_choice, check_number
from cellworth.complete.solver.factors import Factors, leading_directions

PenaltyUnit = Literal["absolute", "relative"]
Fit = TypeVar("Fit")

PENALTIES: Float64Array = np.power(0.6, np.arange(1, 17), dtype=np.float64)
"""Candidates, as fractions of the largest singular value of the zero-filled table: 0.6 to 0.0003."""


def check_penalty(trace_penalty: float | None, unit: str) -> None:
    """Raise ParameterError if the penalty is negative or its unit unknown."""
    if trace_penalty is not None:
        check_number("trace_penalty", trace_penalty, minimum=0)
    check_choice("penalty_unit", unit, ("absolute", "relative"))


class PathFits(Protocol[Fit]):
    """The fits that a search along the path needs, to a table without its hidden cells."""

    def fit(self, relative: float, rank: int, start: Fit | None) -> Fit:
        """Fit with a relative penalty (see `PENALTIES`) and a maximum rank, starting from an earlier fit."""

    def error(self, fit: Fit, relative: float) -> float:
        """Return the root mean square error in the hidden cells."""

    def singular_values(self, fit: Fit) -> FloatArray:
        """Return the singular values of the fitted table, descending."""


class PathResult(NamedTuple, Generic[Fit]):
    """The best settings along a path, their fit and its error; None and infinity if no fit succeeded."""

    choice: Choice
    fit: Fit | None
    error: float


def search_path(fits: PathFits[Fit], rank: int, *, cut: bool) -> PathResult[Fit]:
    """Find the rank limit and the relative penalty with the least error in the hidden cells.

    The penalty decreases from candidate to candidate, each fit starting from the previous one, until
    `PATIENCE` in a row bring no gain. With ``cut``, the best fit is then cut at the largest drop in its
    spectrum, and the penalty decreases further at that rank: a table with one clear rank is best fitted with
    almost no penalty, but only at that rank.
    """
    best = _follow(fits, PENALTIES, rank, None)
    if not cut or best.fit is None or len(values := fits.singular_values(best.fit)) < 2:
        return best
    at_drop, _ = largest_drop(values)
    after = _follow(fits, PENALTIES[best.choice.relative >= PENALTIES], at_drop, best.fit)
    return after if after.error < best.error else best


def _follow(fits: PathFits[Fit], candidates: Float64Array, rank: int, fit: Fit | None) -> PathResult[Fit]:
    best, waited = PathResult[Fit](Choice(rank, float(candidates[-1])), None, np.inf), 0
    for relative in candidates.tolist():
        fit = fits.fit(relative, rank, fit)
        error = fits.error(fit, relative)
        waited += 1
        if error < best.error:
            best, waited = PathResult(Choice(rank, relative), fit, error), 0
        if waited == PATIENCE:
            break
    return best


class PenalisedFit(Protocol):
    """Fit a table (n, d) with a trace penalty and a maximum rank, starting from an earlier fit."""

    def __call__(
        self, values: FloatArray, observed: BoolArray, penalty: float, rank: int, start: Factors | None, /
    ) -> Factors:
        """Return balanced factors."""


class PenalisedCompleter(FactoredCompleter):
    """Base class of completers with a trace penalty, by which they also shrink new rows.

    A subclass has the parameters ``trace_penalty``, ``penalty_unit`` and ``rank``, besides those of
    `FactoredCompleter`.
    """

    trace_penalty: float | None
    penalty_unit: PenaltyUnit
    rank: int | None
    trace_penalty_: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.rank)
        check_penalty(self.trace_penalty, self.penalty_unit)

    def _set_penalty(
        self,
        values: FloatArray,
        observed: BoolArray,
        fit_with: PenalisedFit,
        rng: np.random.Generator,
        *,
        cut: bool,
    ) -> tuple[int, float]:
        """Set ``trace_penalty_``; return the rank limit and the largest singular value of the table.

        If no penalty is given, both are those that best fill a hidden tenth of the cells. ``values`` (n, d)
        is 0 in the holes. See `search_path` for the search and for ``cut``.
        """
        rank, largest = min(self.rank or min(values.shape), *values.shape), largest_singular_value(values)
        if self.trace_penalty is None:
            choice, held = Choice(rank, float(PENALTIES[-1])), hold_out(values, observed, rng)
            if held.truth.size:
                fits = _FactorFits(held, fit_with, largest_singular_value(held.values))
                choice = search_path(fits, rank, cut=cut).choice
            rank, penalty = choice.rank, choice.relative * largest
        else:
            penalty = self.trace_penalty * (largest if self.penalty_unit == "relative" else 1.0)
        self.trace_penalty_ = float(penalty)
        return rank, largest

    def _row_penalty(self) -> float:
        return self.trace_penalty_

    def _easier(self) -> str:
        return f", or raise trace_penalty (it was {self.trace_penalty_:g}), which makes the problem easier."


@dataclass(frozen=True)
class _FactorFits:
    """Fits to a dense table."""

    held: HeldOut
    fit_with: PenalisedFit
    largest: float

    def fit(self, relative: float, rank: int, start: Factors | None) -> Factors:
        return self.fit_with(self.held.values, self.held.observed, relative * self.largest, rank, start)

    def error(self, fit: Factors, relative: float) -> float:
        return self.held.error(fit.left @ fit.right)

    def singular_values(self, fit: Factors) -> FloatArray:
        return singular_values(fit)


def largest_singular_value(values: FloatArray) -> float:
    """Return that of the table with 0 in its holes; a penalty this large shrinks everything to 0."""
    sigma, _ = leading_directions(values, 1)
    return float(sigma[0])


def singular_values(fit: Factors) -> FloatArray:
    """Return the singular values of the table whose balanced factors ``fit`` holds."""
    return np.einsum("ij,ij->i", fit.right, fit.right).astype(np.float64)


def largest_drop(spectrum: FloatArray) -> tuple[int, float]:
    """Return how many of the descending values come before the largest drop, and the ratio across it.

    Examples
    --------
    >>> import numpy as np
    >>> largest_drop(np.array([9.0, 8.0, 1.0, 0.9]))
    (2, 8.0)
    """
    ratios = spectrum[:-1] / np.maximum(spectrum[1:], np.finfo(np.float64).tiny)
    if not len(ratios):
        return len(spectrum), 1.0
    return int(ratios.argmax()) + 1, float(ratios.max())
