"""scikit-learn's IterativeImputer: regresses each column on the others, in rounds."""

from __future__ import annotations

from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from benchmarks.problem import Array
from benchmarks.solvers import Estimate


def complete(table: Array, labels: Array) -> Estimate:
    """Complete with the defaults; the labels are not used."""
    imputer = IterativeImputer()
    completed = imputer.fit_transform(table)
    return Estimate((completed,), imputer.n_iter_)
