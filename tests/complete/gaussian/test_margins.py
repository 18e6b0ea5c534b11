"""Columns by their ranks: to normal scores and back."""

import numpy as np
from sklearn.base import clone

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.gaussian.margins import columns_with_atoms, has_atom
from tests.complete.gaussian.cases import holed


def test_rank_margins_do_not_see_monotone_changes_of_a_column():
    _, X = holed(7)
    there = X.copy()
    there[:, 0], there[:, 3] = np.exp(X[:, 0]), X[:, 3] ** 3
    completer = GaussianCompleter(margins="rank", shrinkage=3.0, calibrate=False)
    first, second = (clone(completer).fit(table) for table in (X, there))
    np.testing.assert_allclose(first.covariance_, second.covariance_, atol=1e-10)
    np.testing.assert_allclose(first.completed_[:, 1], second.completed_[:, 1], rtol=1e-8)


def test_atoms_of_all_columns_are_those_of_each():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 14, size=12) * rng.random((60, 12))
    values[:, ::2] = values[:, ::2].round()
    values[:25, 3] = 2.0
    observed = rng.random(values.shape) < rng.random(12)
    observed[:, 5] = False
    observed[:, 7] = np.arange(60) == 3
    columns = (np.unique(values[seen, j], return_counts=True)[1] for j, seen in enumerate(observed.T))
    expected = [len(counts) > 0 and has_atom(counts) for counts in columns]
    assert 2 < sum(expected) < 10
    np.testing.assert_array_equal(columns_with_atoms(values, observed), expected)
    assert not columns_with_atoms(values, np.zeros_like(observed)).any()
