"""cellworth on two threads."""

from __future__ import annotations

from typing import Any

from benchmarks.problem import Array
from benchmarks.solvers import Estimate, cellworth_one_thread


def complete(table: Array, labels: Array, **options: Any) -> Estimate:
    """Complete like `cellworth_one_thread`, but with two threads."""
    return cellworth_one_thread.complete(table, labels, n_jobs=2, **options)
