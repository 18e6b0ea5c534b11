"""scikit-learn's SimpleImputer: fills holes with the column mean. The baseline."""

from __future__ import annotations

from sklearn.impute import SimpleImputer

from benchmarks.problem import Array
from benchmarks.solvers import Estimate


def complete(table: Array, labels: Array) -> Estimate:
    """Complete with the defaults; the labels are not used."""
    imputer = SimpleImputer()
    completed = imputer.fit_transform(table)
    return Estimate((completed,))
