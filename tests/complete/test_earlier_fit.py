"""What a fit leaves to the next: its cells if nothing else changed, its factors, and its state."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import SupervisedCompleter
from cellworth.complete.earlier_fit import EarlierFit
from cellworth.complete.kept_between_fits import KeptBetweenFits
from cellworth.complete.scaling import AS_THEY_ARE, Scaling, in_order, scaled_cells
from tests.blocks.tables import make_table


def earlier(X, order=AS_THEY_ARE, rank=3):
    """Return a fit to X with its cells kept, and its factors in the order of the rows of X."""
    rng = np.random.default_rng(0)
    U, s, V = np.linalg.svd(rng.normal(size=X.shape), full_matrices=False)
    left, right = U[:, :rank] * np.sqrt(s[:rank]), np.sqrt(s[:rank])[:, None] * V[:rank]
    scaling = Scaling.of(X, "minmax")
    completed = np.where(np.isnan(X), scaling.undo_in_place(left @ right), X)
    fit = EarlierFit((left @ right)[order], right, completed, scaling, 1.0, order)
    fit.keep_cells(scaled_cells(X, scaling, order))
    return fit, left


def holed(n=60, d=5):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.4] = np.nan
    return X


@pytest.mark.parametrize("change", ["nothing", "answers", "values", "holes", "scale", "order", "type"])
def test_cells_are_those_that_would_be_scaled_anew_and_the_changed_rows_are_found(change):
    X, rng = holed(), np.random.default_rng(2)
    order = rng.permutation(len(X))
    fit, _ = earlier(X, order)
    scaling, now, order_now = fit.scaling, X.copy(), order
    known = np.argwhere(~np.isnan(X))
    if change == "answers":
        now[3, np.isnan(X[3])] = 0.25
        now[41, np.isnan(X[41])] = -0.5
    elif change == "values":
        now[tuple(known[7])] += 1.0
    elif change == "holes":
        now[tuple(known[9])] = np.nan
    elif change == "scale":
        scaling = Scaling.of(2 * X, "minmax")
    elif change == "order":
        order_now = rng.permutation(len(X))
    elif change == "type":
        now = now.astype(np.float32)
    cells, changed = fit.cells_of(now, order_now, scaling, KeptBetweenFits())
    fresh = scaled_cells(now, scaling, order_now)
    assert (cells[0] == fresh[0]).all()
    assert (cells[1] == fresh[1]).all()
    if change in ("nothing", "scale", "order"):
        assert not len(changed)
    elif change != "type":  # of another precision, every row with a known cell has changed
        different = ~((now == X) | (np.isnan(now) & np.isnan(X))).all(axis=1)
        assert set(changed) >= set(
            np.flatnonzero(different[order_now] & ~np.isnan(now[order_now]).all(axis=1))
        )


def test_of_two_that_ask_for_the_cells_one_has_them_and_the_other_scales_anew():
    X = holed()
    fit, _ = earlier(X)
    one, _ = fit.cells_of(X, AS_THEY_ARE, fit.scaling, KeptBetweenFits())
    other, _ = fit.cells_of(X, AS_THEY_ARE, fit.scaling, KeptBetweenFits())
    assert one[0] is not other[0]
    assert (one[0] == other[0]).all()


@pytest.mark.parametrize("shuffled", [False, True])
def test_factors_are_balanced_and_in_the_users_order_also_after_a_file(shuffled):
    X = holed()
    order = np.random.default_rng(3).permutation(len(X)) if shuffled else AS_THEY_ARE
    fit, left = earlier(X, order)
    for each in (fit, pickle.loads(pickle.dumps(fit))):
        found, right = each.factors()
        np.testing.assert_allclose(found, left, atol=1e-12)
        np.testing.assert_allclose(np.square(found).sum(axis=0), np.square(right).sum(axis=1))
    again = EarlierFit.restored(fit.state(), fit.completed, fit.scaling, fit.penalty)
    np.testing.assert_allclose(again.factors()[0], left, atol=1e-12)
    assert (in_order(fit.iterate, order) == again.iterate).all()


def test_a_state_with_both_factors_is_restored_and_goes_on():
    X, y = make_table(150, 5, 0, labelled=0.8)
    first = SupervisedCompleter(warm_start=True, tol=1e-10).fit(X, y)
    older = first.fitted_state() | {"low_rank_": list(first.low_rank_)}
    del older["iterate"], older["right"]
    restored = clone(first)
    restored.restore_fitted(older)
    for mine, theirs in zip(restored.low_rank_, first.low_rank_, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    X[np.isnan(X) & (np.random.default_rng(1).random(X.shape) < 0.1)] = 0.5
    np.testing.assert_allclose(restored.fit(X, y).completed_, first.fit(X, y).completed_, atol=1e-8)
