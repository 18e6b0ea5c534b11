"""gcimpute's Gaussian copula (Zhao and Udell)."""

from __future__ import annotations

import numpy as np

from benchmarks.problem import Array


def complete(table: Array) -> Array:
    """Return the completed table; gcimpute infers the column types itself.

    It rejects tables with a column that has only one distinct observed value, whatever types it is given, and
    asks for such columns to be removed. We remove them and fill them with that value.
    """
    vars(np).setdefault("round_", np.round)  # gcimpute 0.0.4 was written for NumPy 1
    from gcimpute.gaussian_copula import GaussianCopula

    smallest, largest = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    varied = smallest < largest
    completed = np.where(np.isnan(table), smallest, table)
    completed[:, varied] = GaussianCopula(verbose=0).fit_transform(X=table[:, varied].copy())
    return completed
