"""One row among those that were planned together: what is predicted of it, and why its plan is what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.messages import count
from cellworth.policy.decision_costs import BeliefLoss, ErrorCosts
from cellworth.policy.information import Information
from cellworth.policy.purchase_plan import Plan, Planner
from cellworth.shown_numbers import shown
from cellworth.table.column import UserValue

CENTRAL = (0.05, 0.95)
"""Quantiles of the outputs that are shown."""


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
