"""Worths by chance: what every other scorer has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.score.memoryless import Memoryless
from cellworth.score.round import Round

Array = NDArray[np.float64]


@dataclass(eq=False)
class Random(Memoryless):
    """Give each hole a worth drawn evenly from (0, 1].

    The k highest are then k holes drawn without replacement, each set of k being equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import SupervisedCompleter
    >>> from cellworth.score import Random, Round
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [np.nan, 6.0]])
    >>> round = Round(X, None, None, SupervisedCompleter().fit(X), np.random.default_rng(0))
    >>> Random().score(round).round(2)
    array([[0.  , 0.  ],
           [0.  , 0.36],
           [0.73, 0.  ]])
    """

    def score(self, round: Round) -> Array:
        """Return the worths (n, d): from (0, 1] in the holes, 0 elsewhere. Costs O(nd)."""
        scores = np.zeros(round.X.shape)
        scores[round.holes] = 1.0 - round.rng.random(np.count_nonzero(round.holes))
        return scores
