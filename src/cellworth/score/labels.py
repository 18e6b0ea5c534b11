"""The labels of a round, as completers take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.score.round import Round

Array = NDArray[np.float64]


def labels_to_fit(round: Round) -> Array | None:
    """Return y (n,), or None where there is nothing to learn from it: no label, or labels of one class.

    Completers refuse such labels, since a user who passes them has probably made a slip; in a campaign that
    has just begun they are normal.
    """
    if round.y is None:
        return None
    known = round.y[~np.isnan(round.y)]
    least = 2 if round.target == "classes" else 1
    return round.y if len(np.unique(known)) >= least else None
