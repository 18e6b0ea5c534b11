"""cellworth on one thread. The table is already scaled, so ``scale=None``."""

from __future__ import annotations

from typing import Any

from benchmarks.objective import LABEL_WEIGHT, RIDGE, TRACE_PENALTY
from benchmarks.problem import Array
from benchmarks.solvers import Estimate
from cellworth import SupervisedCompleter


def complete(table: Array, labels: Array, *, until: float | None = None, **options: Any) -> Estimate:
    """Complete with the settings of the shared objective; ``options`` are additional parameters.

    ``until`` stops the fit at the first iterate with an objective of at most this value.
    """
    if until is not None:
        options["callback"] = lambda progress: progress.objective <= until
    completer = SupervisedCompleter(
        trace_penalty=TRACE_PENALTY, label_weight=LABEL_WEIGHT, ridge=RIDGE, scale=None, **options
    )
    completer.fit(table, labels)
    return Estimate(completer.low_rank_, completer.n_iter_)
