"""The built-in strategies: which completer, scorer and selector each name stands for."""

from __future__ import annotations

from functools import cache

from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.score import PosteriorImpact, PosteriorVariance, Random, TrainingGain, Variance
from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.label_scorers import ErrorReduction, LabelUncertainty
from cellworth.select import Draw, Knapsack, Poss, Ratio, Top
from cellworth.strategy.registry import Strategy


def make(name: str) -> Strategy:
    """Return a built-in strategy; KeyError if there is none of this name."""
    if name == "auto":
        from cellworth.strategy.auto_strategy import make_automatic

        return make_automatic()
    return _by_name()[name]


@cache
def _by_name() -> dict[str, Strategy]:
    made = (*_of_the_paper(), *_compared(), *_ours(), *_by_what_they_buy())
    return {each.name: each for each in made}


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
            Draw(per="price", by="auto"),
            "rows or cells drawn in proportion to what they add to the training, per unit of money; labels "
            "too, if they have a price",
        ),
    ]


def _by_what_they_buy() -> list[Strategy]:
    """Return strategies that buy cells or labels only, where both have a price."""
    completer = _gaussian()
    return [
        Strategy(
            "cells-only",
            completer,
            TrainingGain(buys="cells"),
            Draw(per="price", by="auto"),
            "as recommended, but never a label",
        ),
        Strategy(
            "labels-only",
            completer,
            TrainingGain(buys="labels"),
            Draw(per="price"),
            "labels that add most to the training, per unit of money; never a cell",
        ),
        Strategy(
            "label-uncertainty",
            completer,
            LabelUncertainty(),
            Ratio(),
            "labels of which the model is least sure, per unit of money; never a cell",
        ),
        Strategy(
            "label-error-reduction",
            completer,
            ErrorReduction(),
            Ratio(),
            "labels that are expected to reduce the error of a linear model most; never a cell",
        ),
    ]


def _gaussian() -> GaussianCompleter:
    """Return the completer for our strategies; it ignores labels.

    Labels make the filled rows easier to tell apart than new rows will be. With trust tuned on held-out
    cells, they help on some tables (chess) and hurt on more, mostly small ones; see the results page.
    """
    return GaussianCompleter(label_trust=0.0)
