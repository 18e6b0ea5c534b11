"""The estimator: contract, awkward tables, answers in the user's units, threads, warm starts."""

import numpy as np
import pytest

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from tests.complete.gaussian import textbook
from tests.complete.scikit_learn import check_with_scikit_learn


def holed(seed=0, n=400, d=6, share=0.6):
    """Return a table of a known Gaussian, complete, and with holes."""
    X, observed, *_ = textbook.gaussian_table(np.random.default_rng(seed), n, d, share)
    return X, np.where(observed, X, np.nan)


def plain(**settings):
    return GaussianCompleter(**{"margins": "normal", "calibrate": False, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"margins": "normal", "label_trust": 1.0},
        {"margins": "rank", "label_trust": 0.3},
        {"factors": 2, "margins": "normal", "label_trust": 0.0, "calibrate": False},
    ],
    ids=str,
)
def test_contract(settings):
    check_completer(GaussianCompleter(**settings))


def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(GaussianCompleter())


def test_answers_equal_the_textbook_in_the_users_units():
    _truth, X = holed()
    units, shift = np.array([1.0, 10, 0.1, 1000, 1, 5]), np.array([0.0, 5, 100, -3, 0, 1])
    table = X * units + shift
    fitted = plain(shrinkage=0, tol=1e-9).fit(table)
    assert fitted.converged_
    rows = [textbook.condition(x, ~np.isnan(x), fitted.mean_, fitted.covariance_) for x in table]
    np.testing.assert_allclose(fitted.completed_, [r[0] for r in rows], rtol=1e-6)
    np.testing.assert_allclose(
        fitted.variance_ / units**2, [np.diag(r[1]) for r in rows] / units**2, atol=1e-7
    )
    expected = textbook.log_likelihood(table, ~np.isnan(table), fitted.mean_, fitted.covariance_)
    assert fitted.observed_log_likelihood_ == pytest.approx(expected, rel=1e-8)


def test_without_holes_and_shrinkage_the_moments_are_those_of_the_sample():
    truth, _ = holed(1)
    fitted = plain(shrinkage=0).fit(truth)
    np.testing.assert_allclose(fitted.mean_, truth.mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(fitted.covariance_, np.cov(truth.T, bias=True), atol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"factors": 2}, {"margins": "rank"}], ids=str)
def test_likelihood_never_falls(settings):
    _, X = holed(2)
    fitted = plain(**settings).fit(X)
    assert (np.diff(fitted.log_likelihood_) >= 0).all()
    assert len(fitted.log_likelihood_) == fitted.n_iter_
    np.testing.assert_array_equal(fitted.objective_, -fitted.log_likelihood_)


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


def test_rank_margins_do_not_see_monotone_changes_of_a_column():
    _, X = holed(7)
    there = X.copy()
    there[:, 0], there[:, 3] = np.exp(X[:, 0]), X[:, 3] ** 3
    first, second = (GaussianCompleter(margins="rank").fit(table) for table in (X, there))
    np.testing.assert_allclose(first.covariance_, second.covariance_, atol=1e-10)
    np.testing.assert_allclose(first.completed_[:, 1], second.completed_[:, 1], rtol=1e-8)


def test_auto_takes_ranks_where_they_help_and_only_there():
    _, X = holed(8, n=1500)
    assert GaussianCompleter().fit(X).margins_ == "normal"
    assert GaussianCompleter().fit(np.exp(2 * X)).margins_ == "rank"


def test_threads_do_not_change_the_result():
    _, X = holed(9, n=12_000, d=5)
    one, two = (GaussianCompleter(n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.completed_, two.completed_)
    np.testing.assert_array_equal(one.variance_, two.variance_)


def test_float32_is_close_to_float64():
    _, X = holed(10)
    small, large = plain().fit(X.astype(np.float32)), plain().fit(X)
    assert small.completed_.dtype == small.variance_.dtype == np.float32
    assert small.sample(2, 0).dtype == np.float32
    np.testing.assert_allclose(small.completed_, large.completed_, atol=1e-3)


@pytest.mark.parametrize("settings", [{}, {"factors": 2}, {"margins": "rank"}], ids=str)
def test_warm_start_needs_few_steps_for_the_same_likelihood(settings):
    truth, X = holed(11)
    more = X.copy()
    more[:20] = truth[:20]
    warm = plain(warm_start=True, tol=1e-7, **settings).fit(X)
    cold_steps = warm.n_iter_
    warm.fit(more)
    cold = plain(tol=1e-7, **settings).fit(more)
    assert warm.n_iter_ <= cold_steps
    assert warm.log_likelihood_[-1] == pytest.approx(cold.log_likelihood_[-1], abs=1e-3 * X.size)
    assert plain(warm_start=True).fit(X).fit(X[:, :4]).completed_.shape == (400, 4)


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


def test_awkward_tables_stay_near_the_observed_range():
    rng = np.random.default_rng(13)
    _, X = holed(13, n=60, d=7)
    constant, once, empty_row, collinear = X.copy(), X.copy(), X.copy(), X.copy()
    constant[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 5.0)
    once[:, 1], once[3, 1] = np.nan, 1.5
    empty_row[7] = np.nan
    collinear[:, 4], collinear[:, 5] = 2 * X[:, 0], X[:, 0] - X[:, 1]
    sparse = np.where(rng.random((300, 10)) < 0.02, rng.normal(size=(300, 10)), np.nan)
    sparse[rng.integers(300, size=10), np.arange(10)] = 1.0
    for table in (constant, once, empty_row, collinear, X[:4], sparse):
        table = table[:, ~np.isnan(table).all(axis=0)]
        for settings in ({}, {"factors": 2}, {"shrinkage": 0.1, "margins": "normal"}):
            filled = GaussianCompleter(**settings).fit(table).completed_
            low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
            assert (filled >= low - 2 * (high - low) - 1e-6).all()
            assert (filled <= high + 2 * (high - low) + 1e-6).all()


def test_a_callback_ends_the_fit():
    _, X = holed(14)
    seen = []
    fitted = plain(tol=0, callback=lambda p: seen.append(p) or len(seen) == 3).fit(X)
    assert len(seen) == 3
    assert not fitted.converged_
    assert seen[-1].objective <= seen[0].objective


def test_too_few_steps_are_told():
    _, X = holed(15)
    with pytest.warns(UserWarning, match="did not converge in 2 steps"):
        plain(max_iter=2, tol=1e-12).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margins": "uniform"}, "margins"),
        ({"label_trust": 1.5}, "label_trust"),
        ({"shrinkage": -1}, "shrinkage"),
        ({"factors": 0}, "factors"),
        ({"dtype": np.int64}, "dtype"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        GaussianCompleter(**settings).fit(holed()[1])


def test_levels_outside_0_1_are_refused():
    fitted = plain().fit(holed()[1])
    for level in (0, 1, 90):
        with pytest.raises(ParameterError, match="level"):
            fitted.predict_interval(level)
