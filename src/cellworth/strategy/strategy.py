"""A strategy: a completer, a scorer and a selector under one name."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cellworth.errors import ParameterError
from cellworth.score import Scorer
from cellworth.select import Selector


@dataclass(frozen=True, eq=False)
class Strategy:
    """How to choose the cells to buy: fill the table, say what each hole is worth, spend the budget.

    The parts are templates: an `Adviser` works on copies, so one strategy serves many campaigns.

    Attributes
    ----------
    name : str
    completer : estimator
        Any completer of this package or of your own.
    scorer : Scorer
        Fresh: it has seen no round yet.
    selector : Selector
    summary : str
        One sentence for people.

    Examples
    --------
    Compose one of your own and give it a name:

    >>> from cellworth import GaussianCompleter, strategy
    >>> from cellworth.score import PosteriorVariance
    >>> from cellworth.select import Top
    >>> mine = strategy.Strategy("least-sure", GaussianCompleter(), PosteriorVariance(), Top(per_row=1))
    >>> strategy.register(mine)
    >>> strategy.get("least-sure") is mine
    True
    >>> strategy.unregister("least-sure")
    """

    name: str
    completer: Any = field(repr=False)
    scorer: Scorer = field(repr=False)
    selector: Selector = field(repr=False)
    summary: str = ""


_REGISTERED: dict[str, Strategy] = {}


def register(strategy: Strategy, *, replace: bool = False) -> None:
    """Make a strategy known by its name; a name that is taken needs ``replace=True``."""
    if strategy.name in _REGISTERED and not replace:
        raise ParameterError(
            f"there is a strategy {strategy.name!r} already; choose another name, or pass replace=True"
        )
    _REGISTERED[strategy.name] = strategy


def unregister(name: str) -> None:
    """Forget a strategy."""
    get(name)
    del _REGISTERED[name]


def get(strategy: str | Strategy) -> Strategy:
    """Return the strategy of a name; a `Strategy` is returned as it is."""
    if isinstance(strategy, Strategy):
        return strategy
    if strategy not in _REGISTERED:
        close = get_close_matches(str(strategy), _REGISTERED, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"no strategy {strategy!r}{hint} There are: {', '.join(names())}")
    return _REGISTERED[strategy]


def names() -> tuple[str, ...]:
    """Return the names of all strategies, in the order in which they were registered."""
    return tuple(_REGISTERED)
