"""The forest of one column, against what its definition says."""

import numpy as np
import pytest

from cellworth.complete import column_forests
from cellworth.complete.column_forests import (
    FEATURE_TREES,
    ColumnForest,
    PartlyFilled,
    grow_forests,
    predict_holes,
)
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from tests.complete.gaussian import textbook


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    X, observed, mean, covariance = textbook.gaussian_table(rng, 200, 4, 0.6)
    fitted = FittedGaussian(DenseGaussian(mean, covariance), Margins((None,) * 4), 0.0, 3.0)
    return fitted, Cells(np.where(observed, X, 0), observed), X


def bent(seed, n):
    """Return a table of three columns: two uniform ones and a noisy parabola of the first between them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    X[:, 1] = X[:, 0] ** 2 + 0.5 * rng.normal(size=n)
    return X


def test_without_rounds_a_row_is_completed_as_if_the_column_were_a_hole(case):
    fitted, cells, X = case
    for j, completed in zip((2, 0), PartlyFilled.without([2, 0], fitted, cells, X).of_columns(), strict=True):
        rows = np.flatnonzero(cells.observed[:, j])
        assert len(completed) == len(rows)
        for i, row in zip(rows[-5:], completed[-5:], strict=True):
            others = cells.observed[i].copy()
            others[j] = False
            expected = textbook.condition(X[i], others, fitted.model.mean, fitted.model.covariance)[0]
            np.testing.assert_allclose(row, expected, atol=1e-9)


def test_columns_grow_alike_together_and_alone(case, monkeypatch):
    """How many columns are completed at once changes the last bits at most, and these decide no split."""
    fitted, cells, X = case
    guesses = Posterior(np.zeros_like(X), np.ones_like(X))
    found = []
    for at_once in (1, 10**9):
        monkeypatch.setattr(column_forests, "GROUP_CELLS", at_once)
        found.append(grow_forests(fitted, cells, X, guesses, 10, np.random.default_rng(0), None).predictions)
    np.testing.assert_allclose(*found, atol=1e-9)


def test_the_features_of_a_column_do_not_depend_on_its_cells():
    """Nor do they after rounds: no prediction of another cell of the row has seen the cell."""
    X = bent(0, 300)
    observed = np.random.default_rng(1).random(X.shape) < 0.7
    fitted = FittedGaussian(DenseGaussian(np.zeros(3), np.eye(3)), Margins((None,) * 3), 0.0, 3.0)
    guesses = Posterior(np.zeros_like(X), np.ones_like(X))
    cells = Cells(np.where(observed, X, 0), observed)
    grown = grow_forests(fitted, cells, X, guesses, 20, np.random.default_rng(0), None)
    changed = X.copy()
    changed[:, 0] += 100
    for rounds in ([], grown.rounds):
        one, other = (
            PartlyFilled.without([0], fitted, Cells(np.where(observed, x, 0), observed), x)
            .after(rounds)
            .others
            for x in (X, changed)
        )
        np.testing.assert_array_equal(one, other)


def test_a_forest_that_is_no_better_than_the_guess_is_not_used(case):
    fitted, cells, X = case
    exact = Posterior(X, np.ones_like(X))  # guesses that need no forest
    grown = grow_forests(fitted, cells, X, exact, 10, np.random.default_rng(0), None)
    assert len(grown.rounds) == 1  # the first gains nothing, so there is no second
    assert all(forest.weight == 0 and forest.forest is None for forest in grown.rounds[0])
    assert (grown.weights == 0).all()
    np.testing.assert_array_equal(grown.predictions, np.where(cells.observed, X, 0))


def test_out_of_bag_predictions_have_no_less_error_than_on_new_rows():
    """A forest that saw its own rows would have a far smaller error on them."""
    X = bent(1, 600)
    observed = np.ones_like(X, dtype=bool)
    fitted = FittedGaussian(DenseGaussian(np.zeros(3), np.eye(3)), Margins((None,) * 3), 0.0, 3.0)
    nothing = Posterior(np.zeros_like(X), np.ones_like(X))
    old, new = slice(300), slice(300, None)
    part = Posterior(nothing.mean[old], nothing.variance[old])
    grown = grow_forests(
        fitted, Cells(X[old], observed[old]), X[old], part, 60, np.random.default_rng(1), None
    )
    known = np.array([True, False, True]) & observed[new]
    guesses = Posterior(nothing.mean[new], nothing.variance[new])
    filled = predict_holes(grown.rounds, fitted, Cells(X[new] * known, known), X[new] * known, guesses)
    fresh = np.mean((filled - X[new])[:, 1] ** 2)
    within = np.mean((grown.predictions - X[old])[:, 1] ** 2)
    assert grown.weights[1] > 0.8
    assert within == pytest.approx(fresh, rel=0.3)  # two means of 300 squares: 8 % a standard error each
    assert fresh < 0.5 * X[:, 1].var()


def test_further_rounds_see_more_where_the_holes_of_a_row_are_curved():
    """The first round sees them as the Gaussian completes them, the others as the forests do."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=500)
    curves = [x, x**2, np.sin(3 * x), np.abs(x), np.cos(2 * x), x**3, np.exp(x), np.sin(2 * x)]
    truth = np.column_stack(curves) + 0.05 * rng.normal(size=(500, 8))
    truth = (truth - truth.mean(axis=0)) / truth.std(axis=0)
    observed = rng.random(truth.shape) < 0.5
    values = np.where(observed, truth, 0.0)
    fitted = FittedGaussian(DenseGaussian(np.zeros(8), np.corrcoef(truth.T)), Margins((None,) * 8), 0.0, 3.0)
    cells = Cells(values, observed)
    left_out = fitted.left_out(values, cells, fitted.complete(cells))
    guesses = Posterior(left_out.mean, left_out.variance)
    errors = []
    for n_rounds in (1, 3):
        rng = np.random.default_rng(0)
        grown = grow_forests(fitted, cells, truth, guesses, 60, rng, None, n_rounds)
        assert len(grown.rounds) <= n_rounds
        posterior = Posterior(*fitted.mean_and_variance(fitted.posterior(cells)))
        filled = predict_holes(grown.rounds, fitted, cells, values, posterior)
        errors.append(np.mean((filled - truth)[~observed] ** 2))
    assert errors[1] < 0.95 * errors[0]


def test_without_a_forest_the_prediction_is_the_one_before():
    features, before = np.arange(12.0).reshape(3, 4), np.arange(3.0)
    none = ColumnForest(None, 0.0)
    np.testing.assert_array_equal(none.predict(features, before), before)
    assert none.for_features() == none


def test_features_of_the_next_round_need_fewer_trees(case):
    fitted, cells, X = case
    nothing = Posterior(np.zeros_like(X), np.ones_like(X))
    grown = grow_forests(fitted, cells, X, nothing, 40, np.random.default_rng(0), None, n_rounds=1)
    forest = next(forest for forest in grown.rounds[0] if forest.forest is not None)
    few = forest.for_features()
    assert len(few.forest.feature) == FEATURE_TREES
    assert few.weight == forest.weight


def test_rounds_can_be_applied_one_after_another_or_at_once(case):
    fitted, cells, X = case
    guesses = Posterior(np.zeros_like(X), np.ones_like(X))
    with_rounds = grow_forests(fitted, cells, X, guesses, 5, np.random.default_rng(0), None, n_rounds=1)
    rounds = with_rounds.rounds * 3
    start = PartlyFilled.without([1], fitted, cells, X)
    step_by_step = start.after(rounds[:1]).after(rounds[:2]).after(rounds)
    at_once = start.after(rounds)
    np.testing.assert_array_equal(step_by_step.others, at_once.others)
    assert (at_once.others != start.after(rounds[:1]).others).any()


def test_what_is_kept_between_rounds_does_not_change_the_result(case, monkeypatch):
    fitted, cells, X = case
    guesses = Posterior(np.zeros_like(X), np.ones_like(X))
    grown = []
    for most in (column_forests.MOST_KEPT, 0):
        monkeypatch.setattr(column_forests, "MOST_KEPT", most)
        grown.append(grow_forests(fitted, cells, X, guesses, 10, np.random.default_rng(0), None))
    assert len(grown[0].rounds) > 1
    np.testing.assert_array_equal(grown[0].predictions, grown[1].predictions)
