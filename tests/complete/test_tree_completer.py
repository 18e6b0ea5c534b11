"""Trees on a Gaussian's completion: where they help, and what they promise."""

import numpy as np
import pytest
from sklearn.base import clone

from cellworth.blocks import open_blocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.tree_completer import TreeCompleter
from cellworth.errors import ParameterError
from cellworth.testing import check_completer
from tests.complete.gaussian.cases import holed
from tests.complete.scikit_learn import check_with_scikit_learn


def curved(seed=0, n=500, share=0.7):
    """Return a table of curves of one variable, complete, and with holes."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=n)
    truth = np.column_stack([x, x**2, np.sin(3 * x), np.abs(x)]) + 0.1 * rng.normal(size=(n, 4))
    return truth, np.where(rng.random(truth.shape) < share, truth, np.nan)


def rmse(completer, truth, X):
    return np.sqrt(np.mean((completer.completed_ - truth)[np.isnan(X)] ** 2))


@pytest.fixture(scope="module")
def on_curves():
    truth, X = curved()
    return truth, X, TreeCompleter().fit(X)


def test_curves_are_completed_better_than_by_the_gaussian(on_curves):
    truth, X, trees = on_curves
    assert rmse(trees, truth, X) < 0.75 * rmse(GaussianCompleter().fit(X), truth, X)
    assert (trees.forest_weights_ > 0.5).all()


@pytest.mark.slow
def test_straight_relations_are_completed_about_as_well():
    for seed in range(3):
        truth, X = holed(seed, n=400)
        assert rmse(TreeCompleter().fit(X), truth, X) < 1.02 * rmse(GaussianCompleter().fit(X), truth, X)


def test_intervals_cover_and_variances_are_as_large_as_errors(on_curves):
    truth, X, trees = on_curves
    holes = np.isnan(X)
    lower, upper = trees.predict_interval(0.9)
    assert (lower <= trees.completed_).all()
    assert (trees.completed_ <= upper).all()
    # 600 cells: a standard error of 0.012.
    assert 0.86 < ((lower <= truth) & (truth <= upper))[holes].mean() < 0.94
    ratio = ((trees.completed_ - truth)[holes] ** 2).sum() / trees.variance_[holes].sum()
    assert 0.75 < ratio < 1.35
    np.testing.assert_array_equal(lower[~holes], X[~holes])


def test_draws_have_the_mean_and_variance_that_are_told(on_curves):
    _, X, trees = on_curves
    draws = trees.sample(400, random_state=0)
    holes = np.isnan(X)
    assert (draws[:, ~holes] == X[~holes]).all()
    off = (draws.mean(axis=0) - trees.completed_)[holes] / np.sqrt(trees.variance_[holes] / 400)
    assert np.abs(off).max() < 5
    assert np.median(draws.var(axis=0)[holes] / trees.variance_[holes]) == pytest.approx(1, abs=0.05)


def test_the_rows_of_fit_are_completed_alike_as_new_ones(on_curves):
    _, X, trees = on_curves
    completed, variance = trees.transform_with_variance(X)
    np.testing.assert_allclose(completed, trees.completed_, rtol=1e-9)
    np.testing.assert_allclose(variance, trees.variance_, rtol=1e-9)
    np.testing.assert_allclose(trees.transform(X[:7]), completed[:7], rtol=1e-9)


def test_labels_that_help_the_gaussian_help_the_trees():
    truth, X = curved(1, share=0.4)
    y = truth[:, 0]
    with_labels = TreeCompleter(label_trust=1.0, target="number").fit(X, y)
    assert with_labels.label_trust_ == 1
    assert rmse(with_labels, truth, X) < 0.95 * rmse(TreeCompleter().fit(X), truth, X)


@pytest.mark.parametrize("trust", [0.0, 0.4, 1.0, "auto"])
@pytest.mark.parametrize("target", [None, "classes", "number"])
def test_trees_on_a_fitted_gaussian_are_those_of_a_fit(trust, target):
    truth, X = curved(2, n=200)
    y = {None: None, "classes": np.where(truth[:, 1] > 1, "far", "near"), "number": truth[:, 0]}[target]
    if target == "number":
        y[::7] = np.nan  # some labels are missing
    kind = target or "auto"
    trees = TreeCompleter(n_trees=5, label_trust=trust, target=kind)
    gaussian = GaussianCompleter(label_trust=trust, target=kind).fit(X, y)
    fitted = clone(trees).fit(X, y)
    for again in (clone(trees).fit_on(gaussian, X, y), clone(trees).fit_on(gaussian, X, y)):
        assert again.label_trust_ == fitted.label_trust_
        for name in ("completed_", "variance_", "forest_weights_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
        np.testing.assert_array_equal(again.predict_interval(0.8), fitted.predict_interval(0.8))
        np.testing.assert_array_equal(again.sample(3, random_state=0), fitted.sample(3, random_state=0))
        np.testing.assert_array_equal(again.transform(X[:9]), fitted.transform(X[:9]))


def test_a_shared_generator_goes_on_as_in_a_fit():
    _, X = curved(n=100)
    gaussian = GaussianCompleter(random_state=np.random.default_rng(3)).fit(X)
    fitted = TreeCompleter(n_trees=5, random_state=np.random.default_rng(3)).fit(X)
    grown = TreeCompleter(n_trees=5).fit_on(gaussian, X)
    np.testing.assert_array_equal(grown.completed_, fitted.completed_)


def test_trees_refuse_a_gaussian_of_another_table_or_one_that_was_stored():
    _, X = curved(n=60)
    gaussian = GaussianCompleter().fit(X)
    with pytest.raises(ParameterError, match="same table, of 3 columns; got one of 4"):
        TreeCompleter().fit_on(gaussian, X[:, :3])
    stored = GaussianCompleter()
    stored.restore_fitted(gaussian.fitted_state())
    for other in (stored, GaussianCompleter().fit(open_blocks(X))):
        with pytest.raises(ParameterError, match="keeps no generator"):
            TreeCompleter().fit_on(other, X)


def test_the_gain_over_a_gaussian_can_be_told_before_a_fit():
    truth, X = curved()
    gaussian = GaussianCompleter().fit(X)
    gain, error = TreeCompleter(n_trees=20).expected_gain(gaussian, X)
    found = 1 - (rmse(TreeCompleter().fit(X), truth, X) / rmse(gaussian, truth, X)) ** 2
    assert 0.3 < gain < found + 3 * error  # one round of few trees; the fit has up to three
    assert 0 < error < 0.1
    _, straight = holed(0, n=400)
    gain, error = TreeCompleter(n_trees=20).expected_gain(GaussianCompleter().fit(straight), straight)
    assert abs(gain) < 0.03


def test_the_gain_can_be_measured_on_some_columns():
    _, X = curved()
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 4))])  # noise without gain
    gaussian = GaussianCompleter().fit(X)
    gains = {TreeCompleter(n_trees=20, random_state=k).expected_gain(gaussian, X, 1)[0] for k in range(8)}
    assert min(gains) < 0.05
    assert max(gains) > 0.3


def test_threads_and_seeds(on_curves):
    _, X, _ = on_curves
    few = [TreeCompleter(n_trees=5, n_jobs=n).fit(X[:200]).completed_ for n in (1, 2)]
    np.testing.assert_array_equal(*few)
    again = TreeCompleter(n_trees=5, random_state=1).fit(X[:200]).completed_
    assert (again != few[0]).any()


def test_a_warm_start_keeps_what_the_gaussian_chose(on_curves):
    truth, X, _ = on_curves
    trees = TreeCompleter(n_trees=20, warm_start=True).fit(X)
    X = X.copy()
    X[0] = truth[0]
    trees.fit(X)
    cold = TreeCompleter(n_trees=20).fit(X)
    assert rmse(trees, truth, X) == pytest.approx(rmse(cold, truth, X), rel=0.1)


@pytest.mark.slow
def test_contract():
    check_completer(TreeCompleter(n_trees=5))


@pytest.mark.slow
def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(TreeCompleter(n_trees=5))


def test_settings_and_row_blocks_that_make_no_sense_are_refused():
    _, X = curved(n=50)
    for settings, message in (({"n_trees": 0}, "n_trees"), ({"label_trust": 2}, "label_trust")):
        with pytest.raises(ParameterError, match=message):
            TreeCompleter(**settings).fit(X)
    with pytest.raises(ParameterError, match="TreeCompleter does not run on row blocks"):
        TreeCompleter().fit(open_blocks(X))
