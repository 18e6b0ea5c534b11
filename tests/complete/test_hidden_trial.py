"""What a trial on hidden cells counts."""

import numpy as np

from cellworth.complete.hidden_trial import HiddenTrial, SearchTask, make_trial
from cellworth.complete.labels import code_labels
from cellworth.complete.scaling import Scaling
from tests.complete.auto_cases import gaussian


def test_one_wild_cell_does_not_decide():
    """A completer that is better in all cells but one, which it misses by a thousand deviations."""
    truth = np.zeros((100, 2))
    hidden = np.ones_like(truth, dtype=bool)
    trial = HiddenTrial(truth, None, truth, hidden, np.ones(2))
    wild = np.full_like(truth, 0.1)
    wild[0, 0] = 1000.0
    assert trial.losses(wild).sum() < trial.losses(np.full_like(truth, 0.5)).sum()
    assert np.isnan(trial.losses(np.full_like(truth, np.nan))).all()


def test_cells_are_hidden_in_rows_of_the_table_and_the_others_stay():
    _, X = gaussian(0, n=120)
    y = np.arange(120.0)
    task = SearchTask(X, y, code_labels(y, 120, "squared", "number"), Scaling.of(X, "standard"))
    for most in (50, 119, 120, 500):
        trial = make_trial(task, most, np.random.default_rng(most))
        np.testing.assert_array_equal(trial.truth, X[trial.y.astype(int)])
        np.testing.assert_array_equal(trial.holed[~trial.hidden], trial.truth[~trial.hidden])
        assert np.isnan(trial.holed[trial.hidden]).all()
        assert not np.isnan(trial.truth[trial.hidden]).any()
        assert trial.whole == (most >= 120)
        if trial.whole:  # in their order: a fit to them is one to the table
            np.testing.assert_array_equal(trial.truth, X)


def test_labels_that_are_all_the_same_are_left_out():
    _, X = gaussian(0, n=120)
    y = np.zeros(120)
    y[0] = 1.0
    task = SearchTask(X, y, code_labels(y, 120, "squared", "classes"), Scaling.of(X, "standard"))
    assert make_trial(task, 120, np.random.default_rng(0)).y is not None
    found = [make_trial(task, 60, np.random.default_rng(seed)) for seed in range(8)]
    assert {trial.y is None for trial in found} == {True, False}
    assert all((trial.y is not None) == (trial.truth[0] == X[0])[~np.isnan(X[0])].all() for trial in found)
