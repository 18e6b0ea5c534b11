"""The strategies that come with the package: the only place where names meet classes."""

from __future__ import annotations

from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.complete.committee import CommitteeCompleter
from cellworth.score import (
    CommitteeStability,
    ExpectedUtility,
    PosteriorImpact,
    PosteriorVariance,
    QueryByCommittee,
    Random,
    Variance,
)
from cellworth.select import Draw, Knapsack, Poss, Ratio, Top
from cellworth.strategy.strategy import Strategy, register


def register_all() -> None:
    """Register the strategies of the paper, those it compares with, and ours."""
    for strategy in (*_of_the_paper(), *_compared(), *_ours()):
        register(strategy)


def _of_the_paper() -> list[Strategy]:
    """Return AFASMC: labels help to complete, and the cell whose completions vary most is bought."""
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
    """Return the strategies that the paper compares with."""
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
    """Return the strategies on the joint Gaussian, which knows how unsure it is after one completion."""
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
            "recommended",
            completer,
            PosteriorImpact(power=1.0),
            Draw(per="price"),
            "drawn in proportion to how far the cell may move its row's prediction, per unit of money",
        ),
    ]


def _gaussian() -> GaussianCompleter:
    """Return the completer of our strategies, without labels.

    Labels make the filled rows easier to tell apart than new rows will be. Trusted as held-out cells advise,
    they help on some tables (chess) and hurt on more (small ones above all); see the results page.
    """
    return GaussianCompleter(label_trust=0.0)
