"""When to stop buying: a rule, and its verdict in one sentence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cellworth.errors import ParameterError
from cellworth.forecasting.outlook import Outlook, ends
from cellworth.model.cross_validation import Estimate
from cellworth.setting_names import named
from cellworth.shown_numbers import shown

NEXT = 0.1
"""The share of the remaining cost that the rule looks ahead."""
POINT = 0.01
"""Of the score: what ``point_worth`` is the worth of."""


class StopWarning(UserWarning):
    """The next purchases are not expected to be worth their money."""


@dataclass(frozen=True)
class StopRule:
    """When to stop buying.

    Without ``reach`` and ``point_worth``: stop when the next tenth of the remaining cost would bring less
    than ``least_gain``, by the upper end of its 90 % interval.

    Attributes
    ----------
    least_gain : float
        In units of the score, AUC or R2.
    reach : float or None
        Stop when the score is expected to be at least this share of what is reachable, such as 0.99.
    point_worth : float or None
        What 0.01 of the score is worth, in money: stop when the next tenth of the remaining cost is expected
        to bring less than it costs. At most one of ``reach`` and ``point_worth`` can be given.

    Examples
    --------
    >>> StopRule(reach=0.99)
    StopRule(least_gain=0.005, reach=0.99, point_worth=None)
    """

    least_gain: float = 0.005
    reach: float | None = None
    point_worth: float | None = None

    def __post_init__(self) -> None:
        if self.reach is not None and self.point_worth is not None:
            raise ParameterError("give reach or point_worth, not both.")
        if not (math.isfinite(self.least_gain) and self.least_gain > 0):
            raise ParameterError(
                f"{named('least_gain')} must be a number above 0, such as 0.005; got {self.least_gain!r}"
            )
        if self.reach is not None and not 0 < self.reach <= 1:
            raise ParameterError(
                f"{named('reach')} must be above 0 and at most 1, such as 0.99; got {self.reach!r}"
            )
        if self.point_worth is not None and not (math.isfinite(self.point_worth) and self.point_worth > 0):
            raise ParameterError(
                f"{named('point_worth')} must be an amount above 0; got {self.point_worth!r}"
            )


@dataclass(frozen=True)
class StopAdvice:
    """What a rule says of a forecast.

    Attributes
    ----------
    stop : bool
    sentence : str
    money : float
        The next tenth of the remaining cost.
    gain : Estimate
        What it would bring, with its 90 % interval.
    left : float or None
        What is left of the budget, if that is less than ``money``.
    gain_of_left : Estimate or None
        What that would bring.
    """

    stop: bool
    sentence: str
    money: float
    gain: Estimate
    left: float | None = None
    gain_of_left: Estimate | None = None

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def decide(outlook: Outlook, rule: StopRule | None = None, *, left: float | None = None) -> StopAdvice:
    """Say whether it is worth spending more; by default by ``StopRule()``. Milliseconds.

    ``left`` is what is left of a budget, if there is one. The rule looks at the next tenth of the remaining
    cost all the same; if less is left, the sentence also says what that would bring.
    """
    if rule is not None and not isinstance(rule, StopRule):
        raise ParameterError(f"a rule to stop must be a StopRule; got {rule!r}")
    if outlook.cost <= 0 or outlook.reachable <= outlook.known:
        return StopAdvice(True, "Stop: nothing is left to buy.", 0.0, Estimate(0.0, 0.0, 0.0))
    advice = _verdict(outlook, rule or StopRule())
    if left is None or left >= advice.money:
        return advice
    if left <= 0:
        return replace(advice, sentence=f"{advice.sentence} Nothing is left of the budget.", left=0.0)
    gain = outlook.gain(left)
    brings = f"The {outlook.text(left)} left of the budget would bring {ends(gain)} {outlook.metric}."
    return replace(advice, sentence=f"{advice.sentence} {brings}", left=left, gain_of_left=gain)


def _verdict(outlook: Outlook, rule: StopRule) -> StopAdvice:
    """Apply a rule where something is left to buy."""
    money = NEXT * outlook.cost
    gain, so_much = outlook.gain(money), outlook.text(money)
    metric = outlook.metric
    if rule.reach is not None:
        share = float(np.median(outlook.of_reachable()))
        percent = shown(math.floor(1000 * share + 1e-6) / 10, ".1f")  # not rounded up to what is wanted
        is_so = f"the {metric} is expected to be {percent} % of what all cells would give"
        if share >= rule.reach:
            return StopAdvice(True, f"Stop: {is_so}.", money, gain)
        wanted = f"{shown(100 * rule.reach, '.4g')} %"
        return StopAdvice(False, f"Go on: {is_so}, less than the {wanted} wanted.", money, gain)
    if rule.point_worth is not None:
        worth = float(outlook.gains(money).mean()) / POINT * rule.point_worth
        is_so = f"the next {so_much} would bring {metric} worth {outlook.text(worth)}"
        return StopAdvice(worth < money, f"{'Stop' if worth < money else 'Go on'}: {is_so}.", money, gain)
    if gain.high < rule.least_gain:
        most = shown(max(gain.high, 0.001), ".3f")
        return StopAdvice(True, f"Stop: the next {so_much} would bring at most {most} {metric}.", money, gain)
    return StopAdvice(False, f"Go on: the next {so_much} would bring {ends(gain)} {metric}.", money, gain)
