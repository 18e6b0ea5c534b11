"""What is kept changes no result, and nobody's array is written to."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cellworth import SupervisedCompleter
from cellworth.complete import kept_between_fits
from cellworth.complete.kept_between_fits import KeptBetweenFits


def test_an_array_is_taken_once_and_only_if_it_fits():
    kept = KeptBetweenFits()
    first, second = np.zeros((4, 3)), np.zeros((4, 2), dtype=bool)
    kept.give(first, second)
    assert kept.take((4, 2), bool) is second
    assert kept.take((4, 3), np.float64) is first
    assert kept.take((4, 3), np.float64) is not first
    kept.give(first)
    assert kept.take((5, 3), np.float64).shape == (5, 3)
    assert kept.take((4, 3), np.float64) is not first


def test_only_arrays_without_another_reference_are_kept():
    kept = KeptBetweenFits()
    shared, viewed = np.zeros((4, 3)), np.zeros((4, 3))
    view = viewed[1:]
    arrays = [shared, viewed, np.zeros((4, 3)), view.base[:2]]
    del viewed
    kept.give_unshared(arrays)
    assert not arrays
    alone = kept.take((4, 3), np.float64)
    assert alone is not shared
    assert alone is not view.base
    again = kept.take((4, 3), np.float64)
    assert again is not shared
    assert again is not view.base


def test_labels_are_coded_again_only_if_they_differ(monkeypatch):
    kept, calls, code = KeptBetweenFits(), [], kept_between_fits.code_labels
    monkeypatch.setattr(kept_between_fits, "code_labels", lambda *given: calls.append(0) or code(*given))
    y = np.array([1.0, 0.0, np.nan, 1.0])
    first = kept.labels(y, 4, "squared", "auto")
    assert kept.labels(y.copy(), 4, "squared", "auto") is first
    y[1], y[2] = 1.0, 0.0
    np.testing.assert_array_equal(kept.labels(y, 4, "squared", "auto").targets[:, 0], [1, 1, -1, 1])
    assert kept.labels(y, 4, "squared", "number").classes is None
    text = np.array(["a", None, "b", "a"], dtype=object)
    assert kept.labels(text, 4, "squared", "auto").classes.tolist() == ["a", "b"]
    kept.labels(text, 4, "squared", "auto")
    assert len(calls) == 5


@pytest.mark.parametrize("unlabelled", [0.0, 0.4])
def test_earlier_results_stay_as_they_were(unlabelled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 6))
    y = np.where(rng.random(300) < unlabelled, np.nan, X[:, 0] > 0)
    X[rng.random(X.shape) < 0.4] = np.nan
    completer = SupervisedCompleter(warm_start=True)
    results, copies, others = [], [], []
    for _ in range(5):
        X.flat[rng.choice(np.flatnonzero(np.isnan(X)), 5, replace=False)] = rng.normal(size=5)
        completer.fit(X, y)
        results.append((completer.completed_, completer.low_rank_[0][::2]))
        copies.append([each.copy() for each in results[-1]])
        others.append((copy.copy(completer), pickle.loads(pickle.dumps(completer)), X.copy()))
    for result, saved in zip(results, copies, strict=True):
        for got, expected in zip(result, saved, strict=True):
            np.testing.assert_array_equal(got, expected)
    for shallow, stored, table in others:
        after = np.where(np.isnan(table), X, table)
        one, other = shallow.fit(after, y).completed_, stored.fit(after, y).completed_
        np.testing.assert_array_equal(one, other)


def tables_in_turn(rng):
    """Yield tables and labels, each of which differs from the one before in another way."""
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 6))
    y = np.where(X[:, 0] > 0, 1.0, 0.0)
    X[rng.random(X.shape) < 0.4] = np.nan
    yield X, y
    X[3] = rng.normal(size=6)  # in place: an answer, or another value
    yield X, y
    X[5] = np.where(np.arange(6) == 2, 0.5, np.nan)  # fewer are known than before
    yield X, y
    X[7, 1] = 40.0  # another range, so another scaling
    yield X, y
    X[np.nanargmax(X[:, 1]), 1] = np.nan
    yield X, y
    y[:20] = np.nan  # another order of the rows
    yield X, y
    y[20:40] = 1 - y[20:40]
    yield X, y
    yield X.astype(np.float32), y
    yield X[:200], y[:200]
    yield np.asfortranarray(X), np.where(y > 0, "a", "b").astype(object)
    yield X, None


@pytest.mark.parametrize("scale", ["minmax", None])
def test_whatever_changes_the_fit_is_that_of_a_completer_with_nothing_kept(scale):
    completer = SupervisedCompleter(warm_start=True, scale=scale)
    for X, y in tables_in_turn(np.random.default_rng(1)):
        before, given = pickle.loads(pickle.dumps(completer)), X.copy()
        completer.fit(X, y)
        np.testing.assert_array_equal(X, given)
        before.fit(X, y)
        np.testing.assert_array_equal(completer.completed_, before.completed_)
        np.testing.assert_array_equal(completer.coef_, before.coef_)
        assert completer.n_iter_ == before.n_iter_


def test_copies_that_share_what_is_kept_may_be_fitted_at_once():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 6))
    X[rng.random(X.shape) < 0.4] = np.nan
    first = SupervisedCompleter(warm_start=True).fit(X)
    tables = []
    for _ in range(6):
        tables.append(X.copy())
        tables[-1].flat[rng.choice(np.flatnonzero(np.isnan(X)), 5, replace=False)] = rng.normal(size=5)
    expected = [pickle.loads(pickle.dumps(first)).fit(each).completed_ for each in tables]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda each: copy.copy(first).fit(each).completed_, tables))
    for got, alone in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, alone)
