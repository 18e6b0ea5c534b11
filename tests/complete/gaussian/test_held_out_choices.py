"""Ranks and shrinkage where they help, and the paper's tables."""

import numpy as np
import pytest

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.datasets import load
from studies.protocol import make_trial, reconstruction_error
from tests.complete.gaussian.cases import holed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("abalone", 0.09),
        ("letter", 0.155),
        ("image", 0.20),
        ("chess", 0.40),
        ("HTRU2", 0.13),
        ("HillValley", 0.05),
    ],
)
def test_paper_tables_are_completed_well_and_covered(paper_folder, name, limit):
    trial = make_trial(load(name, paper_folder), 0.6, seed=0)
    fitted = GaussianCompleter().fit(trial.holed)
    assert reconstruction_error(fitted.completed_, trial.truth) <= limit
    if name != "chess":
        lower, upper = fitted.predict_interval(0.9)
        covered = ((trial.truth >= lower) & (trial.truth <= upper))[np.isnan(trial.holed)]
        assert 0.85 <= covered.mean() <= 0.95


def test_auto_takes_ranks_where_they_help_and_only_there():
    _, X = holed(8, n=1500)
    assert GaussianCompleter().fit(X).margins_ == "normal"
    assert GaussianCompleter().fit(np.exp(2 * X)).margins_ == "rank"


def wide_noise(seed=0, n=60, d=30):
    """Return a table without any relation between its columns, complete, and with holes."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, d))
    return truth, np.where(rng.random((n, d)) < 0.6, truth, np.nan)


def test_a_wide_table_without_relations_is_completed_no_worse_than_by_column_means():
    for seed in range(3):
        truth, X = wide_noise(seed)
        fitted = GaussianCompleter().fit(X)
        holes = np.isnan(X)
        error = np.sqrt(np.mean((fitted.completed_ - truth)[holes] ** 2))
        of_means = np.sqrt(np.mean((np.nanmean(X, axis=0) - truth)[holes] ** 2))
        assert fitted.shrinkage_ > 3
        assert error < 1.02 * of_means
        lower, upper = fitted.predict_interval(0.9)
        # 720 cells: a standard error of 0.011.
        assert ((lower <= truth) & (truth <= upper))[holes].mean() > 0.85


def test_a_long_table_keeps_the_weakest_shrinkage_and_a_given_one_is_kept():
    _, X = holed(8, n=3000)
    assert GaussianCompleter(margins="normal").fit(X).shrinkage_ == 3
    assert GaussianCompleter(margins="normal", shrinkage=7.0).fit(X).shrinkage_ == 7


def test_a_warm_start_keeps_the_shrinkage():
    _, X = wide_noise()
    fitted = GaussianCompleter(warm_start=True).fit(X)
    before = fitted.shrinkage_
    assert before > 3
    assert fitted.fit(X).shrinkage_ == before
