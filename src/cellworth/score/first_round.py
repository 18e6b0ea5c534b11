"""The rule for the first round: what a cell is worth before there is a history.

A scorer that compares completions over rounds has nothing to say about a row of which it saw one
completion. All of them follow one rule there:

1. a completer that tells its own variance (``variance_``) is taken at its word;
2. else a committee of four refits of the same completer is asked, each on the table with a random tenth of
   its observed cells hidden; the worth is the variance of their completions.

Either is divided by the squared range of the column's observed cells, as the worths of later rounds are.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array
from cellworth.score.round import Round

REFITS = 4
HIDDEN_SHARE = 0.1  # of the observed cells, in each refit


def first_round_scores(this_round: Round) -> Float64Array:
    """Return worths (n, d) that need no history; 0 where observed, 1 is a variance of a whole squared range.

    Costs O(nd) where the completer has a ``variance_``, else four fits of the completer.
    """
    own = getattr(this_round.completer, "variance_", None)
    scores = _disagreement(this_round) if own is None else np.array(own, dtype=np.float64)
    scores /= this_round.squared_ranges
    scores *= this_round.holes
    return scores


def _disagreement(this_round: Round) -> Float64Array:
    """Return the variance (n, d) of each cell over the refits, in the user's units."""
    y = this_round.labels
    completions = np.empty((REFITS, *this_round.X.shape))
    for completion in completions:
        with warnings.catch_warnings():
            # The round's own fit has warned already where there is cause.
            warnings.simplefilter("ignore", ConvergenceWarning)
            completion[:] = _fresh(this_round.completer).fit(_thinned(this_round), y).completed_
    return completions.var(axis=0)


def _thinned(this_round: Round) -> Float64Array:
    """Return the table with a random tenth of its observed cells hidden, but never a column's last."""
    hidden = this_round.rng.random(this_round.X.shape) < HIDDEN_SHARE
    hidden[(~this_round.holes).argmax(axis=0), np.arange(this_round.X.shape[1])] = False
    return np.where(hidden, np.nan, this_round.X)


def _fresh(completer: Any) -> Any:
    """Return an unfitted copy; of the completer that was chosen, where the completer is one that chooses.

    A copy has no earlier fit to start from, so ``warm_start`` changes nothing. It tells no progress.
    """
    fresh = clone(getattr(completer, "best_completer_", completer))
    return fresh.set_params(callback=None) if "callback" in fresh.get_params() else fresh
