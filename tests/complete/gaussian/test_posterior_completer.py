"""What a fitted Gaussian says: samples, intervals and their calibration, variances of new rows."""

import numpy as np
import pytest

from cellworth.blocks import open_blocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.tree_completer import TreeCompleter
from cellworth.errors import ParameterError
from tests.complete.gaussian.cases import holed, plain


@pytest.mark.parametrize("settings", [{}, {"factors": 2}], ids=str)
def test_samples_have_the_posterior_s_mean_and_variance(settings):
    _truth, X = holed(3, n=30)
    fitted = GaussianCompleter(margins="normal", **settings).fit(X)
    n_draws = 4000
    draws = fitted.sample(n_draws, random_state=0)
    holes = np.isnan(X)
    assert draws.shape == (n_draws, *X.shape)
    assert (draws[:, ~holes] == X[~holes]).all()
    variance = fitted.variance_[holes]
    off = (draws.mean(axis=0) - fitted.completed_)[holes] / np.sqrt(variance / n_draws)
    assert np.abs(off).max() < 5
    spread = (draws.var(axis=0)[holes] / variance - 1) / np.sqrt(2 / n_draws)
    assert np.abs(spread).max() < 5


def test_samples_of_rank_margins_have_their_moments_too():
    _truth, X = holed(4, n=60)
    fitted = GaussianCompleter(margins="rank").fit(np.exp(X))
    draws = fitted.sample(4000, random_state=0)
    holes = np.isnan(X)
    error = (draws.mean(axis=0) - fitted.completed_)[holes] / np.sqrt(fitted.variance_[holes])
    assert np.abs(error).max() < 0.15  # the quadrature's error on a map with kinks, and 5 standard errors


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("settings", [{}, {"calibrate": False}, {"factors": 3}], ids=str)
def test_intervals_cover_hidden_cells_of_a_gaussian(level, settings):
    truth, X = holed(5, n=2000)
    fitted = GaussianCompleter(margins="normal", **settings).fit(X)
    lower, upper = fitted.predict_interval(level)
    holes = np.isnan(X)
    covered = ((truth >= lower) & (truth <= upper))[holes]
    # Cells of a row are correlated, hence rows are the unit of the binomial bound.
    bound = 5 * np.sqrt(level * (1 - level) / len(X))
    assert abs(covered.mean() - level) < bound
    np.testing.assert_array_equal(lower[~holes], X[~holes])
    np.testing.assert_array_equal(upper[~holes], X[~holes])
    assert (lower <= fitted.completed_).all()
    assert (upper >= fitted.completed_).all()


def test_calibration_makes_up_for_skewed_columns():
    truth, X = holed(6, n=2000)
    truth, X = truth**3, X**3
    for settings in ({"margins": "normal"}, {"margins": "rank"}):
        lower, upper = GaussianCompleter(**settings).fit(X).predict_interval(0.9)
        covered = ((truth >= lower) & (truth <= upper))[np.isnan(X)].mean()
        assert 0.87 < covered < 0.93


def test_new_rows_get_the_variances_of_the_same_rows_in_fit():
    _, X = holed(12)
    for settings in ({"margins": "normal"}, {"margins": "rank"}, {"factors": 2}):
        fitted = GaussianCompleter(**settings).fit(X)
        completed, variance = fitted.transform_with_variance(X)
        np.testing.assert_allclose(completed, fitted.completed_, rtol=1e-8)
        np.testing.assert_allclose(variance, fitted.variance_, rtol=1e-8)
        np.testing.assert_allclose(fitted.transform(X), completed, rtol=1e-10)
        for new, old in zip(fitted.predict_interval(0.8, X), fitted.predict_interval(0.8), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-8)


def test_levels_outside_0_1_are_refused():
    fitted = plain().fit(holed()[1])
    for level in (0, 1, 90):
        with pytest.raises(ParameterError, match="level"):
            fitted.predict_interval(level)


@pytest.mark.parametrize("factors", [None, 2])
def test_shared_draws_of_a_row_do_not_depend_on_the_others(factors):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) @ (np.eye(4) + 0.4)
    X[rng.random(X.shape) < 0.4] = np.nan
    completer = GaussianCompleter(margins="normal", factors=factors).fit(X)
    together = completer.sample(3000, 0, X[:6], shared=True)
    assert completer.sample(3000, 0, X[2:3], shared=True)[:, 0] == pytest.approx(together[:, 2])
    mean, variance = completer.transform_with_variance(X[:6])
    # 3,000 draws: the error of a mean is 0.018 standard deviations, that of a variance 2.6 %.
    assert np.abs(together.mean(axis=0) - mean) == pytest.approx(np.zeros((6, 4)), abs=0.1)
    assert together.var(axis=0) == pytest.approx(variance, rel=0.15, abs=1e-12)


def test_drawn_parameters_move_the_mean_of_a_column_as_much_as_theory_says():
    """A column half missing beside a complete one: the regression of one on the other, by hand."""
    rng = np.random.default_rng(0)
    n = 60
    x = rng.normal(size=n)
    X = np.column_stack([x, x + rng.normal(size=n)])
    X[30:, 1] = np.nan
    completer = GaussianCompleter(margins="normal", shrinkage=0.1).fit(X)
    means = {
        drawn: completer.sample(300, 1, parameters=drawn)[:, 30:, 1].mean(axis=1) for drawn in (False, True)
    }
    seen, hidden = x[:30], x[30:]
    slope, level = np.polyfit(seen, X[:30, 1], 1)
    noise = np.sum((X[:30, 1] - slope * seen - level) ** 2) / 28
    of_line = noise * (1 / 30 + (hidden.mean() - seen.mean()) ** 2 / np.sum((seen - seen.mean()) ** 2))
    # 300 draws: the variance has a standard error of 8 %, and the bootstrap of 30 rows one of its own.
    assert means[True].var() == pytest.approx(of_line + noise / 30, rel=0.35)
    assert means[False].var() == pytest.approx(noise / 30, rel=0.35)


def test_drawn_parameters_need_a_gaussian_fitted_to_an_array():
    X = np.random.default_rng(1).normal(size=(40, 3))
    X[0, 0] = np.nan
    with pytest.raises(ParameterError, match="TreeCompleter does not draw its parameters"):
        TreeCompleter(n_trees=2).fit(X).sample(1, 0, parameters=True)
    blocks = GaussianCompleter().fit(open_blocks(X))
    with pytest.raises(ParameterError, match="fit to an array"):
        blocks.sample(1, 0, X[:2], parameters=True)
