"""The matrix completion of ALiPy's AFASMC, by authors of the paper: the same problem, without the ridge.

Its loss is (score - label)^2, not halved, with an intercept; ``lambda2`` is divided by n inside, so
``lambda2=1`` is this benchmark's LABEL_WEIGHT = 1 with labels -1 and +1. Two differences remain:

- Its linear model is fitted once to the observed values with 0 in the holes, without a ridge, and never
  to the completed table. The shared evaluation uses the best w for its table anyway.
- It returns its low-rank table with the observed cells put back. To evaluate what it minimises, we change
  the last line to return the low-rank table itself, which has the lower objective.

`AFASMC_mc` turns a list of cells into a mask and calls `AFASMC_mask_mc`; we call the latter directly, which
saves building the list. Iteration limits are its defaults. An iteration is a singular value thresholding.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib
import inspect
from typing import Any

import numpy as np

from benchmarks.objective import LABEL_WEIGHT, TRACE_PENALTY
from benchmarks.problem import Array
from benchmarks.solvers import Estimate

LAST_LINE = "return (1 - obrT) * Xmc + obrT * X"


def complete(table: Array, labels: Array) -> Estimate:
    """Complete with ALiPy's default iteration limits."""
    query_features = import_alipy()
    thresholdings = 0

    def counted(*arguments: Any) -> Any:
        nonlocal thresholdings
        thresholdings += 1
        return query_features._svd_threshold(*arguments)

    source = inspect.getsource(query_features.AFASMC_mask_mc)
    if LAST_LINE not in source:
        raise RuntimeError(f"expected the line {LAST_LINE!r} in ALiPy's AFASMC_mask_mc; use alipy 1.2.5")
    namespace = vars(query_features) | {"_svd_threshold": counted}
    exec(source.replace(LAST_LINE, "return Xmc"), namespace)
    mask = (~np.isnan(table)).astype(float)
    low_rank = namespace["AFASMC_mask_mc"](
        np.nan_to_num(table), labels, mask, lambda1=TRACE_PENALTY, lambda2=LABEL_WEIGHT
    )
    return Estimate((low_rank,), thresholdings)


def import_alipy() -> Any:
    """Import ALiPy, restoring the names that Python 3.10 removed from `collections`."""
    for name in ("Iterable", "Mapping", "MutableMapping", "Sequence", "Callable"):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    return importlib.import_module("alipy.query_strategy.query_features")
