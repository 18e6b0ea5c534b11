"""Strategies: a completer, a scorer and a selector under one name; and the built-in ones.

This is the only module that maps names to classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.errors import ParameterError
from cellworth.score import (
    PosteriorImpact,
    PosteriorVariance,
    Random,
    Scorer,
    TrainingGain,
    Variance,
)
from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.select import Draw, Knapsack, Poss, Ratio, Selector, Top

if TYPE_CHECKING:
    from cellworth.strategy.buying_task import BuyingTask
    from cellworth.strategy.strategy_choice import StrategyChoice


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


_REGISTERED: dict[str, Strategy] = {}


def register(strategy: Strategy, *, replace: bool = False) -> None:
    """Register a strategy under its name; to replace an existing one, pass ``replace=True``."""
    if strategy.name in _REGISTERED and not replace:
        raise ParameterError(
            f"a strategy named {strategy.name!r} already exists; choose another name, or pass replace=True"
        )
    _REGISTERED[strategy.name] = strategy


def unregister(name: str) -> None:
    """Remove a strategy from the registry."""
    get(name)
    del _REGISTERED[name]


def get(strategy: str | Strategy) -> Strategy:
    """Return the strategy with this name; a `Strategy` is returned unchanged."""
    if isinstance(strategy, Strategy):
        return strategy
    if strategy not in _REGISTERED:
        close = get_close_matches(str(strategy), _REGISTERED, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"no strategy {strategy!r}{hint} There are: {', '.join(names())}")
    return _REGISTERED[strategy]


def names() -> tuple[str, ...]:
    """Return the names of all strategies, in order of registration."""
    return tuple(_REGISTERED)


def register_built_in() -> None:
    """Register the paper's strategies, those it compares against, and ours."""
    for strategy in (*_of_the_paper(), *_compared(), *_ours()):
        register(strategy)


def _of_the_paper() -> list[Strategy]:
    """Return AFASMC: labels help completion, and it buys the cell whose completions vary most."""
    completer = SupervisedCompleter()
    return [
        Strategy(
            "afasmc",
            completer,
            Variance(),
            Top(),
            "the paper's: highest variance over all completions, whatever it costs",
        ),
        Strategy(
            "afasmc-window4",
            completer,
            Variance(window=4),
            Top(),
            "variance over the last four completions, the paper's best window",
        ),
        Strategy("afasmc-ratio", completer, Variance(), Ratio(), "highest variance per unit of money"),
        Strategy(
            "afasmc-poss",
            completer,
            Variance(),
            Poss(),
            "the paper's bi-objective search for a batch of high variance and low price",
        ),
        Strategy(
            "afasmc-knapsack",
            completer,
            Variance(),
            Knapsack(),
            "the batch of the highest summed variance that the budget can buy",
        ),
    ]


def _compared() -> list[Strategy]:
    """Return the strategies that the paper compares against."""
    return [
        Strategy(
            "qbc",
            CommitteeCompleter(),
            QueryByCommittee(),
            Top(),
            "cells on which a committee of completers disagrees most",
        ),
        Strategy(
            "stability",
            CommitteeCompleter(),
            CommitteeStability(),
            Top(),
            "cells on which the committee changed its mind most since the last round",
        ),
        Strategy(
            "em-inference",
            _gaussian(),
            ExpectedUtility(),
            Top(),
            "whole rows whose class is worth knowing the values for",
        ),
        Strategy(
            "random", SupervisedCompleter(), Random(), Top(), "cells at random, completed as the paper does"
        ),
    ]


def _ours() -> list[Strategy]:
    """Return the joint Gaussian strategies; the model knows its uncertainty after one completion."""
    completer = _gaussian()
    return [
        Strategy(
            "random-gaussian", completer, Random(), Top(), "cells at random, completed by the joint Gaussian"
        ),
        Strategy(
            "posterior", completer, PosteriorVariance(), Draw(), "drawn in proportion to posterior variance"
        ),
        Strategy(
            "posterior-impact",
            completer,
            PosteriorImpact(),
            Draw(),
            "drawn in proportion to posterior variance times what the cell does to the classifier",
        ),
        Strategy(
            "linear-impact",
            completer,
            PosteriorImpact(power=1.0),
            Draw(per="price"),
            "drawn in proportion to how far the cell may move a linear model's prediction, per unit of money",
        ),
        Strategy(
            "recommended",
            completer,
            TrainingGain(),
            Draw(per="price", by="row"),
            "rows drawn and filled in proportion to what their cells add to the training, per unit of money",
        ),
    ]


def _gaussian() -> GaussianCompleter:
    """Return the completer for our strategies; it ignores labels.

    Labels make the filled rows easier to tell apart than new rows will be. With trust tuned on held-out
    cells, they help on some tables (chess) and hurt on more, mostly small ones; see the results page.
    """
    return GaussianCompleter(label_trust=0.0)
