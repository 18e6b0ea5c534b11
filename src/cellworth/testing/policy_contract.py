"""The contract of a policy for new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from cellworth.policy import NextStep
from cellworth.table import Table

PASSES = 3  # rows to follow to their end


def check_policy(policy: Any, rows: Table, *, seed: int = 0) -> None:
    """Check that a policy keeps the promises of every policy.

    It never asks for a known or refused cell; what it takes is on its list of missing cells, which has each
    missing cell once, by falling gain per unit of money; gains and prices are not negative; free cells come
    first and are taken together; it stops where nothing is missing, and after at most as many steps as
    there are columns; with a budget, it never spends more; probabilities sum to 1 and lie within their
    ranges, and the prediction is one of the classes; the same row gives the same step, alone or among
    others; a row is not modified.

    Parameters
    ----------
    policy : object with ``next_cell(row, *, spent=0.0, refused=())`` and ``next_cells(rows)``
        ``row`` maps column names to values; see `cellworth.policy.Policy`.
    rows : Table
        Some rows with the policy's columns, preferably complete. Their cells are revealed as it asks.
    seed : int
        Draws which cells are known at first.
    """
    rng = np.random.default_rng(seed)
    for number in range(min(PASSES, rows.shape[0])):
        _follow(policy, _values(rows, number), rng)
    some = {row: _some(_values(rows, k), rng) for k, row in enumerate(rows.row_ids[: 2 * PASSES])}
    together = policy.next_cells(some)
    if len(together) != len(some):
        raise AssertionError(f"next_cells must return one step per row; got {len(together)} for {len(some)}")
    for (row, known), step in zip(some.items(), together, strict=True):
        alone = policy.next_cell(known)
        if step.row != row or (step.take, step.price) != (alone.take, alone.price):
            raise AssertionError(f"row {row!r} must get the same step alone and among others")


def _follow(policy: Any, truth: dict[str, object], rng: np.random.Generator) -> None:
    """Reveal what the policy asks for until it stops."""
    known, spent = _some(truth, rng), 0.0
    missing = [name for name in truth if name not in known]
    refused = tuple(missing[:1])
    for _ in range(len(truth) + 1):
        before = dict(known)
        step = policy.next_cell(known, spent=spent, refused=refused)
        if known != before:
            raise AssertionError("the row must not be modified")
        if policy.next_cell(known, spent=spent, refused=refused).take != step.take:
            raise AssertionError("the same row must give the same step")
        _check_step(step, known, refused, [name for name in truth if name not in known])
        spent += step.price
        budget = getattr(policy, "budget", None)
        if budget is not None and spent > budget * (1 + 1e-9):
            raise AssertionError(f"a row's budget of {budget} must not be exceeded; spent {spent}")
        if step.stop:
            return
        known |= {name: truth[name] for name in step.take}
    raise AssertionError("a policy must stop once all cells are known")


def _check_step(step: NextStep, known: Mapping[str, object], refused: Any, missing: list[str]) -> None:
    if set(step.take) & set(known):
        raise AssertionError(f"a known cell must never be asked for; got {step.take}")
    if set(step.take) & set(refused):
        raise AssertionError(f"a refused cell must never be asked for; got {step.take}")
    listed = [cell.column for cell in step.cells]
    wanted = [name for name in missing if name not in refused]
    if sorted(listed) != sorted(wanted):
        raise AssertionError(f"each missing cell must be listed once; expected {wanted}, got {listed}")
    if not set(step.take) <= set(listed):
        raise AssertionError(f"what is taken must be listed; got {step.take}")
    if any(cell.gain < 0 or cell.price < 0 or not math.isfinite(cell.gain) for cell in step.cells):
        raise AssertionError("gains and prices must be finite and not negative")
    ratios = [cell.per_money for cell in step.cells]
    if any(later > earlier for earlier, later in pairwise(ratios)):
        raise AssertionError("cells must be listed by falling gain per unit of money")
    free = {cell.column for cell in step.cells if cell.price == 0}
    if free and set(step.take) != free:
        raise AssertionError(f"free cells must be taken first; expected {sorted(free)}, got {step.take}")
    if step.stop and step.price != 0:
        raise AssertionError("stopping must cost nothing")
    _check_prediction(step)


def _check_prediction(step: NextStep) -> None:
    if not step.probabilities:
        return
    if abs(sum(step.probabilities.values()) - 1) > 1e-6:
        raise AssertionError(f"probabilities must sum to 1; got {dict(step.probabilities)}")
    if step.prediction not in step.probabilities:
        raise AssertionError(f"the prediction must be one of the classes; got {step.prediction!r}")
    assert isinstance(step.low, Mapping)
    assert isinstance(step.high, Mapping)
    for name in step.probabilities:
        if not 0 <= step.low[name] <= step.high[name] <= 1:
            raise AssertionError(f"the range of {name!r} must lie in 0 to 1, low before high")


def _values(rows: Table, number: int) -> dict[str, object]:
    cells = zip(rows.columns, rows.values[number].tolist(), strict=True)
    return {column.name: value for column, cell in cells if (value := column.format(cell)) is not None}


def _some(values: dict[str, object], rng: np.random.Generator) -> dict[str, object]:
    return {name: value for name, value in values.items() if rng.random() < 0.4}
