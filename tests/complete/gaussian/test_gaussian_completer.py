"""The estimator: contract, awkward tables, answers in the user's units, threads."""

import numpy as np
import pytest

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import holed, plain
from tests.complete.scikit_learn import check_with_scikit_learn


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


@pytest.mark.slow
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


def test_the_penalised_likelihood_is_that_of_the_docstring_in_the_users_units():
    _, X = holed()
    table = X * np.array([1.0, 10, 0.1, 1000, 1, 5])
    fitted = plain(shrinkage=4.0, tol=1e-9).fit(table)
    plain_part = textbook.log_likelihood(table, ~np.isnan(table), fitted.mean_, fitted.covariance_)
    penalty = np.linalg.slogdet(fitted.covariance_)[1]
    penalty += np.trace(np.diag(np.nanvar(table, axis=0)) @ np.linalg.inv(fitted.covariance_))
    assert fitted.log_likelihood_[-1] == pytest.approx(plain_part - 4.0 / 2 * penalty, rel=1e-6)


def test_with_factors_the_penalty_is_on_the_noise():
    _, X = holed()
    table = X * np.array([1.0, 10, 0.1, 1000, 1, 5])
    fitted = plain(shrinkage=4.0, factors=2).fit(table)
    model, width = fitted.fitted_gaussian.model, fitted.scaling_.width
    noise, lengths = model.noise * width**2, (model.loadings**2).sum(axis=1) * width**2
    penalty = (np.log(noise) + (np.nanvar(table, axis=0) + lengths) / noise).sum()
    plain_part = textbook.log_likelihood(table, ~np.isnan(table), fitted.mean_, fitted.covariance_)
    assert fitted.log_likelihood_[-1] == pytest.approx(plain_part - 4.0 / 2 * penalty, rel=1e-8)


def test_without_holes_and_shrinkage_the_moments_are_those_of_the_sample():
    truth, _ = holed(1)
    fitted = plain(shrinkage=0).fit(truth)
    np.testing.assert_allclose(fitted.mean_, truth.mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(fitted.covariance_, np.cov(truth.T, bias=True), atol=1e-7)


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
