"""Strategies: a completer, a scorer and a selector under one name; and which names there are.

The built-in ones are made in `cellworth.strategy.built_in` when they are first used: opening a campaign takes
their names alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from cellworth.errors import ParameterError
from cellworth.messages import did_you_mean

if TYPE_CHECKING:
    from cellworth.score.scorer import Scorer
    from cellworth.select.selector import Selector
    from cellworth.strategy.auto_choice import BuyingTask, StrategyChoice


@dataclass(frozen=True, eq=False)
class Strategy:
    """How to choose the cells to buy: fill the table, score each hole, spend the budget.

    The parts are templates: an `Adviser` works on copies, so one strategy can serve many campaigns.

    Attributes
    ----------
    name : str
    completer : estimator
        Any completer, from this package or your own.
    scorer : Scorer
        Unused: it has seen no round yet.
    selector : Selector
    summary : str
        A one-line description.
    choice : StrategyChoice or None
        What was chosen on the table, and why, by a strategy such as "auto"; None for all others.
    is_open : bool
        Whether the parts must first be chosen on a table, by `settled`.

    Examples
    --------
    Compose your own and give it a name:

    >>> from cellworth import GaussianCompleter, strategy
    >>> from cellworth.score import PosteriorVariance
    >>> from cellworth.select import Top
    >>> mine = strategy.Strategy("least-sure", GaussianCompleter(), PosteriorVariance(), Top(per_row=1))
    >>> strategy.register(mine)
    >>> strategy.get("least-sure") is mine
    True
    >>> unregister("least-sure")
    """

    name: str
    completer: Any = field(repr=False)
    scorer: Scorer = field(repr=False)
    selector: Selector = field(repr=False)
    summary: str = ""
    choice: StrategyChoice | None = field(default=None, repr=False)

    is_open: ClassVar[bool] = False

    def settled(self, task: BuyingTask) -> Strategy:
        """Return the strategy to buy with on this table: itself, unless it is open."""
        return self

    def recalled(self, choice: StrategyChoice) -> Strategy:
        """Return the strategy that an earlier `settled` chose; an open strategy chooses nothing anew."""
        raise ParameterError(f"strategy {self.name!r} leaves nothing open, but a choice was recorded for it")


BUILT_IN = (
    "afasmc",
    "afasmc-window4",
    "afasmc-ratio",
    "afasmc-poss",
    "afasmc-knapsack",
    "qbc",
    "stability",
    "em-inference",
    "random",
    "random-gaussian",
    "posterior",
    "posterior-impact",
    "linear-impact",
    "recommended",
    "cells-only",
    "labels-only",
    "label-uncertainty",
    "label-error-reduction",
    "auto",
)
_REGISTERED: dict[str, Strategy | None] = dict.fromkeys(BUILT_IN)
"""By name, in order of registration; None for a built-in one that is not made yet."""


def register(strategy: Strategy, *, replace: bool = False) -> None:
    """Register a strategy under its name; to replace an existing one, pass ``replace=True``."""
    if strategy.name in _REGISTERED and not replace:
        raise ParameterError(
            f"a strategy named {strategy.name!r} already exists; choose another name, or pass replace=True"
        )
    _REGISTERED[strategy.name] = strategy


def unregister(name: str) -> None:
    """Remove a strategy from the registry."""
    check_name(name)
    del _REGISTERED[name]


def check_name(name: str) -> None:
    """Raise ParameterError if there is no strategy with this name; makes none."""
    if name not in _REGISTERED:
        hint = did_you_mean(str(name), _REGISTERED)
        raise ParameterError(f"no strategy {name!r}.{hint} There are: {', '.join(names())}")


def get(strategy: str | Strategy) -> Strategy:
    """Return the strategy with this name; a `Strategy` is returned unchanged."""
    if isinstance(strategy, Strategy):
        return strategy
    check_name(strategy)
    found = _REGISTERED[strategy]
    if found is None:
        from cellworth.strategy.built_in import make

        found = _REGISTERED[strategy] = make(strategy)
    return found


def names() -> tuple[str, ...]:
    """Return the names of all strategies, in order of registration."""
    return tuple(_REGISTERED)
