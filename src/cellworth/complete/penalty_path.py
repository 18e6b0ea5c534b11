"""The trace penalty: taken as given, or chosen along a path of falling penalties on held-out cells."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.hold_out import PATIENCE, Choice, HeldOut, hold_out
from cellworth.complete.inputs import check_number
from cellworth.complete.solver.factors import Factors, leading_directions
from cellworth.errors import ParameterError

PenaltyUnit = Literal["absolute", "relative"]

PENALTIES = 0.6 ** np.arange(1, 17)
"""Candidates, as fractions of the largest singular value of the zero-filled table: 0.6 to 0.0003."""


class PenalisedFit(Protocol):
    """Fit a table (n, d) under a trace penalty and a largest rank, from an earlier fit."""

    def __call__(
        self, values: FloatArray, observed: BoolArray, penalty: float, rank: int, start: Factors | None, /
    ) -> Factors:
        """Return balanced factors."""


def check_penalty(trace_penalty: float | None, unit: str) -> None:
    """Refuse a penalty that is negative, or in a unit that does not exist."""
    if trace_penalty is not None:
        check_number("trace_penalty", trace_penalty, minimum=0)
    if unit not in ("absolute", "relative"):
        raise ParameterError(f"penalty_unit must be 'absolute' or 'relative'; got {unit!r}")


def largest_singular_value(values: FloatArray) -> float:
    """Return that of the table with 0 in its holes: a penalty of this size leaves nothing."""
    sigma, _ = leading_directions(values, 1)
    return float(sigma[0])


def choose_penalty(
    values: FloatArray,
    observed: BoolArray,
    fit_with: PenalisedFit,
    rank: int,
    *,
    cut: bool,
    rng: np.random.Generator,
) -> Choice:
    """Return the rank limit and the relative penalty (see `PENALTIES`) with the least held-out error.

    The penalty falls from candidate to candidate, each fit begun from the one before, until
    `PATIENCE` in a row brought no gain. With ``cut``, the best fit is then cut at the largest drop of
    its spectrum, and the penalty falls on from there at that rank: a table of one clear rank is best
    fitted with next to no penalty, but at that rank only.
    """
    held = hold_out(values, observed, rng)
    best, error, choice = _walk(held, fit_with, PENALTIES, rank, None)
    if not cut or best is None or len(best.right) < 2:
        return choice
    at_drop, _ = largest_drop(singular_values(best))
    lower = PENALTIES[choice.relative >= PENALTIES]
    _, cut_error, cut_choice = _walk(held, fit_with, lower, at_drop, best)
    return cut_choice if cut_error < error else choice


def _walk(
    held: HeldOut, fit_with: PenalisedFit, candidates: FloatArray, rank: int, fit: Factors | None
) -> tuple[Factors | None, float, Choice]:
    """Return the best fit along falling candidates, its held-out error, and its settings."""
    largest = largest_singular_value(held.values)
    best, error, choice, waited = None, np.inf, Choice(rank, float(candidates[-1])), 0
    for relative in candidates:
        fit = fit_with(held.values, held.observed, float(relative) * largest, rank, fit)
        new = held.error(fit.left @ fit.right)
        waited += 1
        if new < error and held.truth.size:
            best, error, choice, waited = fit, new, Choice(rank, float(relative)), 0
        if waited == PATIENCE and held.truth.size:
            break
    return best, error, choice


def singular_values(fit: Factors) -> FloatArray:
    """Return the singular values of the table whose balanced factors ``fit`` has."""
    return np.einsum("ij,ij->i", fit.right, fit.right).astype(np.float64)


def largest_drop(spectrum: FloatArray) -> tuple[int, float]:
    """Return after how many of the descending values the largest drop comes, and the ratio across it.

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
