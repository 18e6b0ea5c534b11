"""What a forecast answers: the score that money would buy, what a score would cost, and both in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import ParameterError
from cellworth.forecasting.curve_by_share import RisingCurve
from cellworth.model import average_names
from cellworth.model.cross_validation import Estimate
from cellworth.optional_packages import require
from cellworth.prices.currency import digits_of, in_currency
from cellworth.shown_numbers import shown
from cellworth.table.target import Metric

EFFICIENCY = 1.6
"""Cells that random buying would need for what the default strategy's first cell brings."""
ENDS = (0.05, 0.95)
"""Of the intervals."""
CENT = 1e-6
"""How exactly money is found that buys a score, as a share of all that can be spent."""
OWN_DOUBT = 0.5
"""Standard error of a gain extrapolated from what purchases have brought, as a share of it, besides its
interval: the best cells may have been bought first."""
OWN_LEAST_ERROR = 0.002


@dataclass(frozen=True)
class CostEstimate:
    """An amount of money with its 90 % interval; None where all that can be bought would not suffice."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Outlook:
    """The forecast for a table: scores on complete rows against money and against the share of cells known.

    Intervals are 90 %.

    Attributes
    ----------
    metric : {"AUC", "R2"}
    model : str
        The name of the model that is forecast.
    known, reachable : float
        The share of the cells known now, and if all that can be bought were.
    cost : float
        Of all cells that can be bought, together.
    curve : RisingCurve
        Draws of the score as a function of the share known.
    currency : str or None
        Of the money, if the prices have one.

    Notes
    -----
    Money is turned into cells by the fraction of `cost` that it is: a fraction m brings the share that
    random cells for a fraction 1 - (1 - m)^e would bring, with e = `EFFICIENCY`.
    """

    metric: Metric
    model: str
    known: float
    reachable: float
    cost: float
    curve: RisingCurve = field(repr=False)
    currency: str | None = None

    def __str__(self) -> str:
        return self.describe()

    @property
    def now(self) -> Estimate:
        """The score now."""
        return self.at(share=self.known)

    @property
    def all_known(self) -> Estimate:
        """The score if all that can be bought were known."""
        return self.at(share=self.reachable)

    def at(self, *, money: float | None = None, share: float | None = None) -> Estimate:
        """Return the score after spending ``money`` more, or with a ``share`` of the cells known.

        Money beyond `cost` buys nothing more. A share lies between `known` and `reachable`.
        """
        return _estimate(self.curve.at(self._share(money, share)))

    def gain(self, money: float) -> Estimate:
        """Return how much the score would rise by spending ``money``; never negative.

        Its value is the difference of the values of `at` then and now, which the median of skewed draws need
        not be.
        """
        drawn = _estimate(self.gains(money))
        value = self.at(money=money).value - self.now.value
        return replace(drawn, value=float(np.clip(value, drawn.low, drawn.high)))

    def gains(self, money: float) -> Float64Array:
        """Return draws of the same."""
        return self.curve.at(self._share(money, None)) - self.curve.at(self.known)

    def of_reachable(self) -> Float64Array:
        """Return draws of the score now as a share of the score if all that can be bought were known."""
        return self.curve.at(self.known) / np.maximum(self.curve.at(self.reachable), 1e-9)

    def cost_of(self, score: float) -> CostEstimate:
        """Return what it would cost to reach a score: the inverse of `at`.

        The lower end is where the upper end of the forecast reaches the score. 0 if it is reached now.
        """
        if not (np.isfinite(score) and score <= 1):
            raise ParameterError(
                f"score must be at most 1, the best {self.metric}, such as 0.9; got {score!r}"
            )
        return CostEstimate(*(self._first(score, end) for end in (0.5, ENDS[1], ENDS[0])))

    def moved(self, *, known: float, reachable: float, cost: float, currency: str | None = None) -> Outlook:
        """Return the same forecast after purchases: from another share, with other cells left to buy."""
        inside = float(np.clip(known, self.curve.shares[0], self.curve.shares[-1]))
        reachable = max(inside, min(reachable, 1.0))
        return replace(self, known=inside, reachable=reachable, cost=cost, currency=currency)

    def text(self, money: float) -> str:
        """Return an amount of money as it is written in the forecast's sentences."""
        digits = 2 if self.currency is None else digits_of(self.currency)
        return shown(money, f",.{digits}f") + ("" if self.currency is None else f" {self.currency}")

    def weighed(self, money: float, gain: Estimate, seed: int = 0) -> Outlook:
        """Return the forecast weighed with another one, of the gain for an amount of money.

        ``gain`` has a 95 % interval; its error is taken to be larger by `OWN_DOUBT`. Draws are drawn again in
        proportion to how well they agree with it.
        """
        error = np.hypot((gain.high - gain.low) / 3.92, OWN_DOUBT * gain.value)
        error = float(np.hypot(error, OWN_LEAST_ERROR))
        log_weight = -(((self.gains(money) - gain.value) / error) ** 2) / 2
        weight = np.exp(log_weight - log_weight.max())
        points = (np.arange(len(weight)) + np.random.default_rng(seed).random()) / len(weight)
        chosen = np.searchsorted(np.cumsum(weight / weight.sum()), points).clip(max=len(weight) - 1)
        return replace(self, curve=RisingCurve(self.curve.shares, self.curve.draws[chosen]))

    def describe(self, score: float | None = None) -> str:
        """Return the forecast in a few sentences, and what a score would cost if one is given."""
        tenth = 0.1 * self.cost
        lines = [
            f"With {_percent(self.known)} of the cells known, the {self.metric} on complete rows is about "
            f"{shown(self.now.value, '.3f')} ({ends(self.now)}) by {average_names.shown(self.model)}."
        ]
        if self.cost > 0 and self.reachable > self.known:
            lines.append(
                f"Spending {self.text(tenth)}, a tenth of what all missing cells cost, would add "
                f"{ends(self.gain(tenth))}; all of them, for {self.text(self.cost)}, would add "
                f"{ends(self.gain(self.cost))} and give {ends(self.all_known)}."
            )
        if score is not None:
            lines.append(self._cost_in_words(score))
        return " ".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: the score now, with all cells, and after each tenth of the cost."""
        points = [
            {"money": money, "share": self._share(money, None), **vars(self.at(money=money))}
            for money in (np.linspace(0, 1, 11) * self.cost).tolist()
        ]
        return {
            "metric": self.metric,
            "model": self.model,
            "known": self.known,
            "reachable": self.reachable,
            "cost": self.cost,
            "currency": self.currency,
            "level": ENDS[1] - ENDS[0],
            "now": vars(self.now),
            "all_known": vars(self.all_known),
            "points": points,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the score against money, with its 90 % interval, and return the matplotlib axes."""
        pyplot = require("matplotlib.pyplot")
        if ax is None:
            _, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
        money = np.linspace(0, 1, 41) * self.cost
        found = [self.at(money=float(each)) for each in money]
        ax.plot(money, [each.value for each in found], label="forecast")
        low, high = [each.low for each in found], [each.high for each in found]
        ax.fill_between(money, low, high, alpha=0.25, label="90 % interval")
        ax.set_xlabel(in_currency("money spent from now on", self.currency))
        ax.set_ylabel(f"{self.metric} on complete rows")
        ax.grid(alpha=0.3)
        ax.legend(loc="lower right")
        return ax

    def _share(self, money: float | None, share: float | None) -> float:
        if (money is None) == (share is None):
            raise ParameterError("give either money or share")
        if share is not None:
            if not self.known - 1e-9 <= share <= self.reachable + 1e-9:
                raise ParameterError(
                    f"share must be between {self.known:.4g}, which is known now, and {self.reachable:.4g}, "
                    f"which can be known; got {share!r}"
                )
            return float(share)
        assert money is not None
        if not money >= 0:
            raise ParameterError(f"money must be 0 or more; got {money!r}")
        part = min(1.0, money / self.cost) if self.cost > 0 else 0.0
        return self.known + (1 - (1 - part) ** EFFICIENCY) * (self.reachable - self.known)

    def _first(self, score: float, end: float) -> float | None:
        """Return the money at which a quantile of the forecast first reaches the score; tens of passes."""

        def reached(money: float) -> bool:
            return bool(quantiles(self.curve.at(self._share(money, None)), [end])[0] >= score)

        if reached(0.0):
            return 0.0
        if not reached(self.cost):
            return None
        below, above = 0.0, self.cost
        while above - below > CENT * self.cost:
            middle = (below + above) / 2
            below, above = (below, middle) if reached(middle) else (middle, above)
        return above

    def _cost_in_words(self, score: float) -> str:
        found = self.cost_of(score)
        wanted = f"{self.metric} {shown(score, '.3g')}"
        if found.low is None:
            return f"{wanted} is out of reach, even with all cells."
        if found.value == 0:
            return f"{wanted} is reached already."
        most = self.text(found.high) if found.high is not None else "more than all cells cost"
        if found.value is None:
            best = "it is reached already" if found.low == 0 else f"it would cost {self.text(found.low)}"
            return f"{wanted} is probably out of reach, even with all cells; at best, {best}."
        least = shown(found.low, ",.2f")
        return f"Reaching {wanted} would cost about {self.text(found.value)} ({least} to {most})."


def _estimate(draws: Float64Array) -> Estimate:
    value, low, high = quantiles(draws, [0.5, *ENDS])
    return Estimate(float(value), float(low), float(high))


def quantiles(draws: Float64Array, at: Sequence[float]) -> Float64Array:
    """Return quantiles along the first axis, (len(at), ...), as `numpy.quantile` does; O(n log n).

    That would load `numpy.ma`, a tenth of what a status costs.
    """
    ordered, places = np.sort(draws, axis=0), np.asarray(at) * (len(draws) - 1)
    below = places.astype(np.intp)
    above = np.minimum(below + 1, len(draws) - 1)
    share = (places - below).reshape(-1, *[1] * (draws.ndim - 1))
    return np.asarray((1 - share) * ordered[below] + share * ordered[above])


def ends(estimate: Estimate) -> str:
    """Return the ends of an interval of scores, in words."""
    return f"{shown(estimate.low, '.3f')} to {shown(estimate.high, '.3f')}"


def _percent(share: float) -> str:
    return f"{shown(100 * share, '.0f' if share < 0.995 else '.1f')} %"
