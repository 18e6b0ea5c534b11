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
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.score.labels import labels_to_fit
from cellworth.score.round import Round
from cellworth.score.widths import squared_ranges

Array = NDArray[np.float64]

REFITS = 4
HIDDEN_SHARE = 0.1  # of the observed cells, in each refit


def first_round_scores(round: Round) -> Array:
    """Return worths (n, d) that need no history; 0 where observed, 1 is a variance of a whole squared range.

    Costs O(nd) where the completer has a ``variance_``, else four fits of the completer.
    """
    own = getattr(round.completer, "variance_", None)
    scores = _disagreement(round) if own is None else np.array(own, dtype=np.float64)
    scores /= squared_ranges(round.X)
    scores *= round.holes
    return scores


def _disagreement(round: Round) -> Array:
    """Return the variance (n, d) of each cell over the refits, in the user's units."""
    y = labels_to_fit(round)
    completions = np.empty((REFITS, *round.X.shape))
    for completion in completions:
        with warnings.catch_warnings():
            # The round's own fit has warned already where there is cause.
            warnings.simplefilter("ignore", ConvergenceWarning)
            completion[:] = _fresh(round.completer).fit(_thinned(round), y).completed_
    return completions.var(axis=0)


def _thinned(round: Round) -> Array:
    """Return the table with a random tenth of its observed cells hidden, but never a column's last."""
    hidden = round.rng.random(round.X.shape) < HIDDEN_SHARE
    hidden[(~round.holes).argmax(axis=0), np.arange(round.X.shape[1])] = False
    return np.where(hidden, np.nan, round.X)


def _fresh(completer: Any) -> Any:
    """Return an unfitted copy; of the completer that was chosen, where the completer is one that chooses.

    A copy has no earlier fit to start from, so ``warm_start`` changes nothing. It tells no progress.
    """
    fresh = clone(getattr(completer, "best_completer_", completer))
    return fresh.set_params(callback=None) if "callback" in fresh.get_params() else fresh
