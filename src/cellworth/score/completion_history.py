"""Histories of earlier completions, in memory that does not grow with the number of rounds.

Both histories count the completions of each row, since rows may be added between rounds. Rows are added at
the end, so the counts never increase from one row to the next, and rows with the same count are contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, Int64Array
from cellworth.errors import DataError, ParameterError
from cellworth.score.scorer import State

BLOCK_CELLS = 20_000  # cells to process at a time, so that intermediate results stay in cache


class History(Protocol):
    """Record completions and compute each cell's spread over them."""

    seen: Int64Array
    """(n,): how many completions of each row have been added."""

    def add(self, completed: Float64Array) -> None:
        """Add the next completion (n, d); it may have more rows than the last."""

    def spread(self, units: Float64Array) -> Float64Array:
        """Return the sum of squared deviations (n, d) from the mean, divided by the columns' units (d,)."""

    def state(self) -> State:
        """Return copies of everything that is kept."""

    def restore(self, state: State) -> None:
        """Continue from a state; ``{}`` forgets everything."""


class AllRounds:
    """The mean and the sum of squared deviations of each cell over all completions, by Welford's rule.

    Memory: two arrays of the table's size.
    """

    seen: Int64Array
    _mean: Float64Array
    _squares: Float64Array

    def __init__(self) -> None:
        self.restore({})

    def add(self, completed: Float64Array) -> None:
        """Add the next completion (n, d), in O(nd)."""
        if self.seen.size:
            check_growth(completed.shape, self._mean.shape)
        n, d = completed.shape
        self.seen = with_rows(self.seen, (n,))
        self._mean, self._squares = with_rows(self._mean, (n, d)), with_rows(self._squares, (n, d))
        change, part = np.empty((2, rows_at_a_time(d), d))
        for rows, before in equal_runs(self.seen, d):
            size = rows.stop - rows.start
            welford_step(
                completed[rows], self._mean[rows], self._squares[rows], before, change[:size], part[:size]
            )
        self.seen += 1

    def spread(self, units: Float64Array) -> Float64Array:
        """Return the sum of squared deviations (n, d) from the mean of all completions, in O(nd)."""
        return self._squares / units

    def state(self) -> State:
        """Return copies of the counts, means and sums."""
        if not self.seen.size:
            return {}
        return {"seen": self.seen.copy(), "mean": self._mean.copy(), "squares": self._squares.copy()}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        check_entries(state, "seen", "mean", "squares")
        self.seen = np.array(state.get("seen", []), dtype=np.int64)
        self._mean = np.array(state.get("mean", [[]]), dtype=np.float64)
        self._squares = np.array(state.get("squares", [[]]), dtype=np.float64)


class LastRounds:
    """The last m completions, in a ring buffer. Memory: m arrays of the table's size."""

    seen: Int64Array
    _ring: Float64Array
    _next: int

    def __init__(self, m: int) -> None:
        self.m = m
        self.restore({})

    def add(self, completed: Float64Array) -> None:
        """Add the next completion (n, d) in place of the oldest; O(nd)."""
        if self.seen.size:
            check_growth(completed.shape, self._ring.shape[1:])
        if len(completed) > len(self.seen):
            grown = np.zeros((self.m, *completed.shape))
            if self.seen.size:
                grown[:, : len(self.seen)] = self._ring
            self._ring = grown
        self.seen = with_rows(self.seen, completed.shape[:1])
        self._ring[self._next] = completed
        self._next = (self._next + 1) % self.m
        self.seen += 1

    def spread(self, units: Float64Array) -> Float64Array:
        """Return the sum of squared deviations (n, d) from the mean of the last m, in O(mnd)."""
        _, n, d = self._ring.shape
        spread = np.empty((n, d))
        mean, part = np.empty((2, rows_at_a_time(d), d))
        for rows, seen in equal_runs(np.minimum(self.seen, self.m), d):
            size = rows.stop - rows.start
            places = [(self._next - 1 - k) % self.m for k in range(seen)]
            sum_of_squares([self._ring[p, rows] for p in places], mean[:size], part[:size], spread[rows])
            spread[rows] /= units
        return spread

    def state(self) -> State:
        """Return copies of the counts and the ring buffer, and the position of its oldest entry."""
        if not self.seen.size:
            return {}
        return {"seen": self.seen.copy(), "ring": self._ring.copy(), "next": self._next}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        check_entries(state, "seen", "ring", "next")
        if state and len(state["ring"]) != self.m:
            raise ParameterError(
                f"the state was saved with window={len(state['ring'])}, but window is {self.m} here; "
                "restore it into a scorer with the same window"
            )
        self.seen = np.array(state.get("seen", []), dtype=np.int64)
        self._ring = np.array(state.get("ring", [[[]]]), dtype=np.float64)
        self._next = int(state.get("next", 0))


def history_of(window: int | None) -> History:
    """Return an empty history of all completions, or of the last ``window``."""
    return AllRounds() if window is None else LastRounds(int(window))


def welford_step(
    value: Float64Array,
    mean: Float64Array,
    squares: Float64Array,
    before: int,
    change: Float64Array,
    part: Float64Array,
) -> None:
    """Add one value to the mean and sum of squares of ``before`` values, in place; all have the same shape.

    With t values after the step and D = value - old mean: mean += D / t and squares += D^2 (t - 1) / t.
    ``change`` and ``part`` are working memory.
    """
    np.subtract(value, mean, out=change)
    np.multiply(change, 1 / (before + 1), out=part)
    mean += part
    part *= change
    part *= before
    squares += part


def sum_of_squares(
    values: list[Float64Array], mean: Float64Array, part: Float64Array, out: Float64Array
) -> None:
    """Write the sum of squared deviations of the values from their mean to ``out``; all have the same shape.

    ``mean`` and ``part`` are working memory.
    """
    np.copyto(mean, values[0])
    for value in values[1:]:
        mean += value
    mean /= len(values)
    out.fill(0.0)
    for value in values:
        np.subtract(value, mean, out=part)
        part *= part
        out += part


def equal_runs(seen: Int64Array, d: int) -> Iterator[tuple[slice, int]]:
    """Yield slices of at most `rows_at_a_time` rows with the same count, and the count."""
    step = rows_at_a_time(d)
    ends = np.append(np.flatnonzero(np.diff(seen)) + 1, len(seen))
    start = 0
    for end in ends.tolist():
        count = int(seen[start])
        for first in range(start, end, step):
            yield slice(first, min(first + step, end)), count
        start = end


def rows_at_a_time(d: int) -> int:
    """Return how many rows of d cells to process at a time."""
    return max(1, BLOCK_CELLS // d)


def with_rows(A: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """Return A padded with rows of zeros at the end to a given shape; A itself if it has that shape."""
    if A.shape == shape:
        return A
    grown = np.zeros(shape, dtype=A.dtype)
    if A.size:
        grown[: len(A)] = A
    return grown


def check_growth(now: tuple[int, ...], last: tuple[int, ...]) -> None:
    """Raise if a table of shape ``now`` has fewer rows than the last round's, or different columns."""
    if now[0] < last[0] or now[1] != last[1]:
        raise DataError(
            f"the table of the last round had {last[0]} rows and {last[1]} columns, this one has {now[0]} "
            f"and {now[1]}; rows may only be added, at the end. Use a new scorer for another table."
        )


def check_entries(state: State, *names: str) -> None:
    """Raise unless a state is empty or has exactly these entries."""
    if state and set(state) != set(names):
        raise ParameterError(
            f"expected a state with the entries {', '.join(names)}, as this scorer saves it; "
            f"got {', '.join(map(str, state))}. Restore it into the kind of scorer that saved it."
        )
