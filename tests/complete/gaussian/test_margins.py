"""Columns by their ranks: to normal scores and back."""

import numpy as np
from sklearn.base import clone

from cellworth.complete.gaussian import GaussianCompleter
from tests.complete.gaussian.cases import holed


def test_rank_margins_do_not_see_monotone_changes_of_a_column():
    _, X = holed(7)
    there = X.copy()
    there[:, 0], there[:, 3] = np.exp(X[:, 0]), X[:, 3] ** 3
    completer = GaussianCompleter(margins="rank", shrinkage=3.0, calibrate=False)
    first, second = (clone(completer).fit(table) for table in (X, there))
    np.testing.assert_allclose(first.covariance_, second.covariance_, atol=1e-10)
    np.testing.assert_allclose(first.completed_[:, 1], second.completed_[:, 1], rtol=1e-8)
