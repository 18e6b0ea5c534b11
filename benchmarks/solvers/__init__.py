"""The solvers compared, one file each.

Each file has a function ``complete(table, labels, **options)``, which takes a table (n, d) with NaN in its
holes and labels (n,) of -1 and +1, and returns an `Estimate`. A solver is imported only when it runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np

from benchmarks.problem import Array


class Estimate(NamedTuple):
    """A completed table as a product of ``factors``; a single factor is the table itself."""

    factors: tuple[Array, ...]
    iterations: int | None = None

    def full(self) -> Array:
        """Return the (n, d) table."""
        return reduce(np.matmul, self.factors)


class Solver(NamedTuple):
    """The file of a solver, and how many threads its process may use."""

    file: str
    threads: int = 1

    def load(self) -> Callable[..., Estimate]:
        """Import the solver and return its function."""
        return importlib.import_module(f"benchmarks.solvers.{self.file}").complete


SOLVERS = {
    "cellworth": Solver("cellworth_one_thread"),
    "cellworth, 2 threads": Solver("cellworth_two_threads", threads=2),
    "ALiPy AFASMC": Solver("alipy_afasmc"),
    "IterativeImputer": Solver("sklearn_iterative"),
    "KNNImputer": Solver("sklearn_knn"),
    "SimpleImputer": Solver("sklearn_mean"),
}
