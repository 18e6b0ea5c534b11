"""The contract of policies finds those that break it."""

from dataclasses import replace

import numpy as np
import pytest

from cellworth import Table
from cellworth.policy import CellGain, NextStep
from cellworth.testing import check_policy

ROWS = Table.from_arrays(np.arange(12.0).reshape(4, 3), columns=["a", "b", "c"])


class InOrder:
    """Measure the columns in their order; all cost 1."""

    budget = None

    def next_cell(self, row, *, spent=0.0, refused=()):
        missing = [name for name in ("a", "b", "c") if name not in row and name not in refused]
        chances = {"no": 0.4, "yes": 0.6}
        cells = tuple(CellGain(name, 1.0, 1.0) for name in missing)
        take = tuple(missing[:1])
        low, high = {"no": 0.1, "yes": 0.2}, {"no": 0.8, "yes": 0.9}
        return NextStep("row", "yes", chances, low, high, take, float(len(take)), 1.0, "why", cells=cells)

    def next_cells(self, rows):
        return [replace(self.next_cell(values), row=row) for row, values in rows.items()]


def test_a_plain_policy_keeps_it():
    check_policy(InOrder(), ROWS)


BROKEN = {
    "known cell": lambda step: replace(step, take=("a", "b", "c")),
    "listed": lambda step: replace(step, cells=()),
    "sum to 1": lambda step: replace(step, probabilities={"no": 0.5, "yes": 0.6}),
    "one of the classes": lambda step: replace(step, prediction="maybe"),
    "not negative": lambda step: replace(
        step, cells=tuple(replace(cell, gain=-1.0) for cell in step.cells) or step.cells
    ),
    "free cells": lambda step: replace(
        step, take=(), price=0.0, cells=tuple(replace(cell, price=0.0) for cell in step.cells)
    ),
    "low before high": lambda step: replace(step, low={"no": 0.9, "yes": 0.9}),
    "cost nothing": lambda step: replace(step, take=(), price=1.0),
}


@pytest.mark.parametrize("promise", BROKEN)
def test_a_broken_promise_is_named(promise):
    class Broken(InOrder):
        def next_cell(self, row, **said):
            return BROKEN[promise](super().next_cell(row, **said))

    with pytest.raises(AssertionError, match=promise):
        check_policy(Broken(), ROWS)


def test_budgets_and_steps_of_many_rows():
    class Poor(InOrder):
        budget = 0.5

    with pytest.raises(AssertionError, match="budget"):
        check_policy(Poor(), ROWS)

    class Confused(InOrder):
        def next_cells(self, rows):
            return [replace(step, take=()) for step in super().next_cells(rows)]

    with pytest.raises(AssertionError, match="alone and among others"):
        check_policy(Confused(), ROWS)
