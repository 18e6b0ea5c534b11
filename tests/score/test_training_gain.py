import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.linear_model import LinearRegression

from cellworth import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.model import Candidate
from cellworth.score import PosteriorVariance, Round, TrainingGain
from cellworth.score.training_gain import shared_gains
from cellworth.testing import check_scorer
from tests.score.rounds import told


def holed_round(seed=0, n=300, d=4, number=False, known=0.5):
    """Return a round of independent columns, of which the first decides."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(n, d))
    signal = full[:, 0] if number else (np.abs(full[:, 0]) > 0.7).astype(float)
    X = np.where(rng.random((n, d)) < known, full, np.nan)
    target = "number" if number else "classes"
    completer = GaussianCompleter(margins="normal", label_trust=0.0, target=target).fit(X, signal)
    return Round(X, signal, target, completer, np.random.default_rng(seed))


@pytest.mark.slow
def test_keeps_the_contract_of_scorers():
    check_scorer(TrainingGain())


explained_tables = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1)).map(
    lambda drawn: np.random.default_rng(drawn[2]).gamma(0.5, size=drawn[:2])
)


def drawn_prices(shape, seed):
    """Return prices from 1 to 9; the seed None means that all cells cost 1."""
    return (
        np.random.default_rng(seed).integers(1, 10, size=shape) * 1.0 if seed is not None else np.ones(shape)
    )


price_seeds = st.none() | st.integers(0, 2**32 - 1)


@settings(max_examples=150)
@given(explained=explained_tables, noise=st.sampled_from([0.01, 0.1, 1.0]), seed=price_seeds)
def test_gains_are_the_slopes_of_the_concave_curve_above_the_best_sets(explained, noise, seed):
    prices = drawn_prices(explained.shape, seed)
    gains = shared_gains(explained, noise, None if seed is None else prices)
    for row, price, shared in zip(explained, prices, gains, strict=True):
        order = np.argsort(-row / price, kind="stable")
        left = row.sum() - np.concatenate([[0.0], np.cumsum(row[order])])
        rows_known = noise / (noise + np.maximum(left, 0.0))
        per_money = np.diff(rows_known) / price[order]
        slopes = isotonic_regression(per_money, weights=price[order], increasing=False).x
        np.testing.assert_allclose(shared[order], slopes * price[order], rtol=1e-9, atol=1e-12)
        # All cells together make the row a whole one.
        assert shared.sum() == pytest.approx(1 - noise / (noise + row.sum()))


@settings(max_examples=60)
@given(explained=explained_tables, seed=price_seeds)
def test_a_cell_that_explains_more_for_the_money_is_never_worth_less_than_its_neighbour(explained, seed):
    prices = drawn_prices(explained.shape, seed)
    gains = shared_gains(explained, 0.1, prices)
    for row, price, shared in zip(explained, prices, gains, strict=True):
        order = np.argsort(row / price, kind="stable")
        assert (np.diff((shared / price)[order]) >= -1e-12).all()


def test_money_goes_to_the_rows_that_are_cheap_to_finish():
    """Two cells explain as much; with the dear one known, the cheap one finishes the row."""
    explained = np.array([[0.3, 0.0, 0.3], [0.0, 0.3, 0.3]])
    prices = np.array([[9.0, 1.0, 1.0], [9.0, 1.0, 1.0]])
    per_money = shared_gains(explained, 0.1, prices) / prices
    assert per_money[1, 2] == per_money[1, 1] > 3 * per_money[0, 0]
    assert per_money[0, 2] < per_money[1, 2]


def test_a_row_that_is_nearly_complete_is_worth_finishing_first():
    nearly, empty = [0.3, 0.0, 0.0], [0.3, 0.3, 0.3]
    gains = shared_gains(np.array([nearly, empty]), 0.1)
    assert gains[0, 0] > 2 * gains[1, 0]
    np.testing.assert_array_equal(gains[0, 1:], 0.0)


def test_effects_of_a_linear_model_are_those_of_the_textbook():
    """For a linear model, what a cell explains is the squared coefficient times its variance."""
    rng = np.random.default_rng(1)
    full = rng.normal(size=(2000, 3))
    coefficients = np.array([2.0, 1.0, 0.0])
    y = full @ coefficients
    holes = rng.random(full.shape) < 0.1
    X = np.where(holes, np.nan, full)
    completer = GaussianCompleter(margins="normal", label_trust=0.0).fit(X)
    linear = Candidate("least squares", learner=LinearRegression())
    scorer = TrainingGain(model=linear, noise=0.1, doubt=0.0)
    scores = scorer.score(Round(X, y, "number", completer, rng))
    alone = holes & (holes.sum(axis=1, keepdims=True) == 1)
    noise = 0.1 * y.var()
    for j, w in enumerate(coefficients):
        expected = 1 - noise / (noise + w**2)
        # The effect is a mean of 40 squares or so, each off by its own size and more.
        assert np.median(scores[alone[:, j], j]) == pytest.approx(expected, abs=0.12)


@pytest.mark.parametrize("number", [False, True])
def test_finds_the_column_that_matters_even_if_not_linearly(number):
    this_round = holed_round(number=number)
    scores = TrainingGain().score(this_round)
    assert np.isfinite(scores).all()
    assert (scores[~this_round.holes] == 0).all()
    assert (scores[this_round.holes] > 0).all()
    means = np.array([scores[this_round.holes[:, j], j].mean() for j in range(scores.shape[1])])
    assert means[0] > 2 * means[1:].max()


def test_units_cancel():
    this_round = holed_round(n=120)
    factor = np.array([1e3, 1.0, 1e-3, 10.0])
    X = this_round.X * factor
    completer = GaussianCompleter(margins="normal", label_trust=0.0).fit(X, this_round.y)
    other = Round(X, this_round.y, "classes", completer, np.random.default_rng(0))
    np.testing.assert_allclose(
        TrainingGain().score(other), TrainingGain().score(holed_round(n=120)), rtol=0.2, atol=0.02
    )


def test_same_round_same_scores():
    np.testing.assert_array_equal(TrainingGain().score(holed_round()), TrainingGain().score(holed_round()))


@pytest.mark.parametrize("y", [None, np.zeros(300), np.full(300, np.nan)])
def test_without_labels_to_learn_from_it_is_the_unexplained_share(y):
    this_round = holed_round()
    unlabelled = Round(this_round.X, y, "classes", this_round.completer, this_round.rng)
    np.testing.assert_array_equal(TrainingGain().score(unlabelled), PosteriorVariance().score(unlabelled))


def test_says_what_the_completer_lacks():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 4.0]])
    y = np.array([0.0, 1.0, 0.0])
    with pytest.raises(ParameterError, match="variance for each cell"):
        TrainingGain().score(told(X, y=y, target="classes"))
    without_draws = told(X, variance=np.ones_like(X), y=y, target="classes")
    with pytest.raises(ParameterError, match="no method sample"):
        TrainingGain().score(without_draws)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"noise": 0.0}, "noise"), ({"doubt": 1.5}, "doubt"), ({"doubt": -0.1}, "doubt")],
)
def test_rejects_settings_without_a_meaning(settings, message):
    with pytest.raises(ParameterError, match=message):
        TrainingGain(**settings)
