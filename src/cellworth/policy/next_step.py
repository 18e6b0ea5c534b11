"""What a policy says of one row: the prediction, how sure it is, and what to measure next, or to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.messages import count, short_number
from cellworth.policy.decision_costs import BeliefLoss, ErrorCosts
from cellworth.policy.information import Information
from cellworth.policy.purchase_plan import Plan, Planner
from cellworth.prices.currency import money_text
from cellworth.shown_numbers import shown
from cellworth.table.column import UserValue

CENTRAL = (0.05, 0.95)
"""Quantiles of the outputs that are shown."""


@dataclass(frozen=True)
class CellGain:
    """One missing cell of a row, and what knowing it alone is expected to bring.

    Attributes
    ----------
    column : str
    gain : float
        The expected saving, in money, if errors have a cost; otherwise the expected fall of the squared error
        (of the probabilities, summed over classes, or of the number).
    price : float
        What it would cost alone; 0 if it is free.
    per_money : float
        The gain per unit of money; infinite if the cell is free.
    """

    column: str
    gain: float
    price: float

    @property
    def per_money(self) -> float:
        """The gain per unit of money; infinite if the cell is free."""
        return self.gain / self.price if self.price > 0 else float("inf")

    def to_json(self) -> dict[str, Any]:
        """Return the cell as JSON-compatible data; no ratio for a free cell."""
        ratio = self.per_money if self.price > 0 else None
        return {"column": self.column, "gain": self.gain, "price": self.price, "per_money": ratio}


@dataclass(frozen=True)
class NextStep:
    """What to do next for one row.

    Attributes
    ----------
    row : str
    prediction : value
        The class to act on, the one of least expected cost, or the predicted number.
    probabilities : mapping of class to float
        At present; empty for a number.
    low, high : mapping of class to float, or float
        The central 90 % of where the probabilities, or the number, would be if all cells were known.
    take : tuple of str
        The columns to measure now, together; empty to stop.
    price : float
        What they cost.
    gain : float
        What the plan that they begin is expected to bring; see `CellGain`.
    plan : tuple of str
        All columns of that plan.
    why : str
        One sentence.
    cells : tuple of CellGain
        All missing cells that can be measured, by gain per unit of money, free ones first.
    expected_cost : float or None
        What acting now is expected to cost in errors; None if errors have no cost.
    currency : str or None
        That of the prices, if they name one.
    """

    row: str
    prediction: UserValue
    probabilities: Mapping[UserValue, float]
    low: Mapping[UserValue, float] | float
    high: Mapping[UserValue, float] | float
    take: tuple[str, ...]
    price: float
    gain: float
    why: str
    plan: tuple[str, ...] = ()
    cells: tuple[CellGain, ...] = field(default=(), repr=False)
    expected_cost: float | None = None
    currency: str | None = None

    @property
    def stop(self) -> bool:
        """Whether it is enough: nothing is left that is worth its price."""
        return not self.take

    def to_json(self) -> dict[str, Any]:
        """Return the step as JSON-compatible data; classes become their texts."""
        of_class = bool(self.probabilities)

        def plain(values: Any) -> Any:
            return {str(name): value for name, value in values.items()} if of_class else values

        return {
            "row": self.row,
            "prediction": self.prediction,
            "probabilities": plain(self.probabilities) if of_class else {},
            "low": plain(self.low),
            "high": plain(self.high),
            "expected_cost": self.expected_cost,
            "stop": self.stop,
            "take": list(self.take),
            "price": self.price,
            "gain": self.gain,
            "plan": list(self.plan),
            "why": self.why,
            "cells": [cell.to_json() for cell in self.cells],
        }

    def __str__(self) -> str:
        return f"{self.row}: {self.describe_prediction()}; {self.describe_step()}"

    def describe_prediction(self) -> str:
        """Return the prediction with its range, in words."""
        if isinstance(self.low, Mapping) and isinstance(self.high, Mapping):
            chance = self.probabilities[self.prediction]
            low, high = self.low[self.prediction], self.high[self.prediction]
            return f"{self.prediction} with {chance:.0%} ({low:.0%} to {high:.0%} once all is known)"
        number, lowest, highest = (
            short_number(each, 3) if isinstance(each, float) else str(each)
            for each in (self.prediction, self.low, self.high)
        )
        return f"{number} ({lowest} to {highest} once all is known)"

    def describe_step(self) -> str:
        """Return what to do, in words."""
        if self.stop:
            return f"stop: {self.why}"
        *first, last = self.take
        columns = f"{', '.join(first)} and {last}" if first else last
        return f"measure {columns} for {money_text(self.price, self.currency)}: {self.why}"


@dataclass(frozen=True)
class PlannedRow:
    """What is known of one row.

    Attributes
    ----------
    information : Information
        Of several rows.
    planner : Planner
        Of the same rows.
    number : int
        Which of them it is.
    plan : Plan
    """

    information: Information
    planner: Planner
    number: int
    plan: Plan

    @property
    def belief(self) -> Float64Array:
        """The mean output (K,)."""
        return np.asarray(self.information.belief[self.number])

    @property
    def outputs(self) -> Float64Array:
        """The outputs (M, K) of all draws."""
        return np.asarray(self.information.outputs[self.number])

    @property
    def worths(self) -> Float64Array:
        """What knowing each cell (p,) alone is expected to save."""
        return np.asarray(self.planner.worths[self.number])

    @property
    def alone(self) -> Float64Array:
        """What each cell (p,) would cost alone."""
        return np.asarray(self.planner.alone[self.number])

    def perfect(self, loss: BeliefLoss) -> float:
        """Return what knowing all cells would save."""
        return float(loss.saved(self.belief, self.outputs))

    def reason(self, loss: BeliefLoss, *, shares: bool) -> str:
        """Return why to take what the plan says, or to stop; ``shares`` if rows share money."""
        plan = self.plan
        if not plan.now:
            if self.perfect(loss) <= 1e-12:
                return "no further cell could change the decision"
            if loss.in_money:
                return "no cell is expected to save more than it costs"
            if shares:
                return "the money is expected to bring more in other rows"
            return "no cell that can be bought would change the prediction"
        if not loss.in_money:
            return "expected to move the prediction most for the money"
        saved = f"expected to save {shown(plan.worth, '.2f')} for {shown(plan.price, '.2f')}"
        more = len(plan.ahead) - len(plan.now)
        return f"with {count(more, 'more cell')} {saved}" if more else saved

    def predicted(self, loss: BeliefLoss, classes: tuple[UserValue, ...] | None) -> dict[str, Any]:
        """Return the prediction, as the fields of `NextStep`."""
        belief = self.belief
        low, high = np.quantile(self.outputs, CENTRAL, axis=0)
        if classes is None:
            return {
                "prediction": float(belief[0]),
                "probabilities": {},
                "low": float(low[0]),
                "high": float(high[0]),
                # Errors that no cell can mend do not count.
                "expected_cost": self.perfect(loss) if loss.in_money else None,
            }
        costs = loss if isinstance(loss, ErrorCosts) else None
        best = int(belief.argmax()) if costs is None else costs.best(belief)
        return {
            "prediction": classes[best],
            "probabilities": dict(zip(classes, belief.tolist(), strict=True)),
            "low": dict(zip(classes, low.tolist(), strict=True)),
            "high": dict(zip(classes, high.tolist(), strict=True)),
            "expected_cost": None if costs is None else float(costs.expected(belief)),
        }
