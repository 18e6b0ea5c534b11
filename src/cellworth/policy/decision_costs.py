r"""What a wrong prediction costs: the loss of a belief about a row's label, and what knowing more saves.

A belief about the label of one row is the model's output, averaged over draws of what is not known: the
probabilities :math:`\bar p` of K classes, or a number. Its loss is the expected cost of the best action,

.. math:: \ell(p) = \min_a \sum_y p_y C_{ya} \quad\text{(costs of errors)}, \qquad
          \ell(p) = 1 - \sum_y p_y^2 \quad\text{(squared)},

and for a number the variance of the prediction. All three are concave in p: knowing more never costs, on
average. If a cell moves the belief from :math:`\bar p` to :math:`\hat p`, which is :math:`\bar p` on average,
its worth is :math:`\ell(\bar p) - \mathrm{E}\,\ell(\hat p)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.complete.inputs import check_number
from cellworth.errors import ParameterError
from cellworth.messages import not_there, shorten
from cellworth.setting_names import named


class BeliefLoss(Protocol):
    """A loss of beliefs."""

    @property
    def in_money(self) -> bool:
        """Whether the loss is money, so that it can be compared with prices."""

    @property
    def per_variance(self) -> float | None:
        """What a unit of the beliefs' variance saves, if nothing else counts; else None."""

    def saved(self, now: Float64Array, then: Float64Array) -> Float64Array:
        """Return how much less is lost, on average, with better beliefs.

        Parameters
        ----------
        now : (..., K) array
            The beliefs at present.
        then : (..., M, K) array
            Equally probable beliefs once more is known; on average they are ``now``.

        Returns
        -------
        (...) array
            Never negative.
        """


@dataclass(frozen=True)
class BeliefVariance:
    """Squared error: for classes that of the probabilities (Brier's), for a number that of the prediction.

    Attributes
    ----------
    cost : float or None
        Money per unit of squared error; None if errors have no price.
    """

    cost: float | None = None

    @property
    def in_money(self) -> bool:
        """Whether errors have a price."""
        return self.cost is not None

    @property
    def per_variance(self) -> float:
        """The cost, or 1."""
        return 1.0 if self.cost is None else self.cost

    def saved(self, now: Float64Array, then: Float64Array) -> Float64Array:
        """Return the variance of the beliefs, summed over classes, times the cost."""
        return np.asarray(
            self.per_variance * ((then - now[..., np.newaxis, :]) ** 2).sum(axis=-1).mean(axis=-1)
        )


@dataclass(frozen=True, eq=False)
class ErrorCosts:
    """The cost of taking one class for another.

    Attributes
    ----------
    costs : (K, K) array
        Money, by true class (row) and class acted on (column).
    """

    costs: Float64Array
    in_money: bool = True
    per_variance: None = None

    def saved(self, now: Float64Array, then: Float64Array) -> Float64Array:
        """Return the expected cost of the best action now, minus that of the best actions then."""
        later = (then @ self.costs).min(axis=-1).mean(axis=-1)
        return np.maximum(0.0, self.expected(now) - later)

    def expected(self, belief: Float64Array) -> Float64Array:
        """Return the expected cost of the best action for beliefs (..., K)."""
        return np.asarray((belief @ self.costs).min(axis=-1))

    def best(self, belief: Float64Array) -> int:
        """Return the class to act on, by number."""
        return int((belief @ self.costs).argmin())


def error_costs(given: Any, classes: tuple[Any, ...]) -> ErrorCosts:
    """Return the costs of errors that the user means.

    Parameters
    ----------
    given : float, mapping or (K, K) array-like
        One cost for every error; a mapping of each true class to the cost of taking it for another, or of
        (true class, class acted on) to a cost; or a matrix in the order of the classes. A mapping must name
        every true class; of a class that has pairs, those left out cost 0.
    classes : tuple of length K
    """
    K = len(classes)
    costs = np.zeros((K, K))
    if isinstance(given, Mapping):
        stated: set[int] = set()
        for key, cost in given.items():
            true, said = key if isinstance(key, tuple) else (key, None)
            row = _class_number(true, classes)
            if said is None:
                costs[row] = _amount(cost, f"the cost of an error on {shorten(true)}")
                costs[row, row] = 0.0
            else:
                column = _class_number(said, classes)
                costs[row, column] = _amount(cost, f"the cost of taking {shorten(true)} for {shorten(said)}")
            stated.add(row)
        _check_all_stated(stated, classes)
    elif np.ndim(given) == 2:
        costs = np.array(given, dtype=np.float64)
        if costs.shape != (K, K) or not np.isfinite(costs).all():
            raise ParameterError(
                f"error_cost must be a {K} x {K} matrix of finite numbers, one row per true class; got the "
                f"shape {costs.shape}"
            )
    else:
        costs = _amount(given, "error_cost") * (1 - np.eye(K))
    return ErrorCosts(costs)


def _check_all_stated(stated: set[int], classes: tuple[Any, ...]) -> None:
    left_out = [shorten(each) for number, each in enumerate(classes) if number not in stated]
    if left_out:
        raise ParameterError(
            f"error_cost does not say what an error costs if the true class is {' or '.join(left_out)}; give "
            "each class a cost, 0 if errors on it cost nothing"
        )


def squared_cost(given: Any) -> BeliefVariance:
    """Return the loss of a number, given the cost of a squared error of 1."""
    if isinstance(given, Mapping) or np.ndim(given):
        raise ParameterError(
            "the target is a number: error_cost must be one amount, what a squared error of 1 costs; got "
            f"{shorten(given)}"
        )
    return BeliefVariance(_amount(given, "error_cost"))


def _amount(given: Any, what: str) -> float:
    try:
        amount = float(given)
    except (TypeError, ValueError):
        amount = np.nan
    if isinstance(given, bool) or not (np.isfinite(amount) and amount >= 0):
        raise ParameterError(f"{what} must be a finite amount of money, not negative; got {shorten(given)}")
    return amount


def _class_number(given: Any, classes: tuple[Any, ...]) -> int:
    for number, each in enumerate(classes):
        if given == each or str(given) == str(each):
            return number
    raise ParameterError(f"error_cost: {not_there('class', str(given), tuple(map(str, classes)))}")


def check_stop(
    error_cost: Any,
    confidence: float | None,
    deviation: float | None,
    budget: float | None,
    mean_budget: float | None,
    *,
    is_number: bool,
) -> None:
    """Raise ParameterError if what the user says does not tell when to stop; see `Policy`."""
    if all(each is None for each in (error_cost, confidence, deviation, budget, mean_budget)):
        raise ParameterError(
            f"nothing says when to stop; give {named('error_cost')}, {named('budget')}, "
            f"{named('mean_budget')}, or {named('confidence')} (for a number, {named('deviation')})"
        )
    if error_cost is not None and mean_budget is not None:
        raise ParameterError(
            "give error_cost or mean_budget, not both: each says what a cell must bring for its price"
        )
    if confidence is not None:
        if is_number:
            raise ParameterError("confidence is for classes; for a number, give deviation or error_cost")
        check_number("confidence", confidence, above=0)
        if confidence > 1:
            raise ParameterError(
                f"{named('confidence')} must be a probability, at most 1 (write 0.9 for 90 %); got "
                f"{confidence:g}"
            )
    if deviation is not None:
        if not is_number:
            raise ParameterError("deviation is for numbers; for classes, give confidence or error_cost")
        check_number("deviation", deviation, minimum=0)
    for name, money in (("budget", budget), ("mean_budget", mean_budget)):
        if money is not None:
            check_number(name, money, minimum=0)
