"""gcimpute's Gaussian copula (Zhao and Udell)."""

from __future__ import annotations

import numpy as np

from benchmarks.problem import Array


def complete(table: Array) -> Array:
    """Return the completed table; the types of the columns are found by gcimpute itself."""
    vars(np).setdefault("round_", np.round)  # gcimpute 0.0.4 was written for NumPy 1
    from gcimpute.gaussian_copula import GaussianCopula

    completed: Array = GaussianCopula(verbose=0).fit_transform(X=table.copy())
    return completed
