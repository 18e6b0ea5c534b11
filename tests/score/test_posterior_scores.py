import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.errors import ParameterError
from cellworth.score import PosteriorImpact, PosteriorVariance, Round
from cellworth.score.posterior_scores import undecided
from tests.score.rounds import holed_tables, told


def labelled_round(seed, classes=2, number=False, n=60, d=5, factor=1.0, shift=0.0):
    """Return a round whose completions and variances are random, in other units if asked to."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(n, d))
    X = np.where(rng.random((n, d)) < 0.6, full, np.nan)
    y = (full @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))).argmax(axis=1).astype(float)
    y[:classes] = range(classes)
    y[classes::5] = np.nan
    variance = rng.uniform(0.1, 2.0, size=(n, d))
    target = "number" if number else "classes"
    return told(X * factor + shift, full * factor + shift, variance * factor**2, y=y, target=target)


@settings(max_examples=100)
@given(table=holed_tables())
def test_posterior_variance_is_the_unexplained_share(table):
    X, rng = table
    variance = rng.uniform(0.0, 5.0, size=X.shape)
    scores = PosteriorVariance().score(told(X, variance=variance))
    for j, column in enumerate(X.T):
        seen = column[~np.isnan(column)]
        share = variance[:, j] / (np.mean((seen - seen.mean()) ** 2) or 1.0)
        np.testing.assert_allclose(scores[:, j], np.where(np.isnan(column), share, 0.0))


@pytest.mark.parametrize("power", [2.0, 1.0, 0.5])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_impact_is_what_the_docstring_says_cell_by_cell(classes, power):
    this_round = labelled_round(classes, classes)
    scores = PosteriorImpact(power).score(this_round)
    model = this_round.fit_linear_model()
    p, w = model.probabilities(this_round.completed), model.coefficients
    for (i, j), score in np.ndenumerate(scores):
        pairs = [(k, l) for k in range(classes) for l in range(k)]
        spread = sum(p[i, k] * p[i, l] * abs(w[j, k] - w[j, l]) ** power for k, l in pairs)
        deviation = np.sqrt(this_round.completer.variance_[i, j])
        assert score == pytest.approx(deviation**power * spread)
    assert (scores[this_round.holes] > 0).all()


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(1, 6))
def test_for_power_two_it_is_the_quadratic_form_of_the_class_covariance(seed, classes):
    rng = np.random.default_rng(seed)
    p, w = rng.dirichlet(np.ones(classes), size=4), rng.normal(size=(3, classes))
    expected = [[wj @ (np.diag(pi) - np.outer(pi, pi)) @ wj for wj in w] for pi in p]
    np.testing.assert_allclose(undecided(p, w, 2.0), expected, atol=1e-12)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_two_classes_are_the_known_formula(seed, power):
    rng = np.random.default_rng(seed)
    p, w = rng.random(4), rng.normal(size=3)
    both = undecided(np.column_stack([1 - p, p]), np.column_stack([-w, w]) / 2, power)
    np.testing.assert_allclose(both, np.outer(p * (1 - p), np.abs(w) ** power))
    third = undecided(np.column_stack([1 - p, p, 0 * p]), np.column_stack([0 * w, w, w + 9]), power)
    np.testing.assert_allclose(third, both, err_msg="a class that cannot be must not matter")


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 5))
def test_for_power_two_it_is_twice_the_log_loss_that_not_knowing_costs(seed, classes):
    """By finite differences: the curvature of the row's log-loss in the cell, under its own probabilities."""
    rng = np.random.default_rng(seed)
    x, w, b = rng.normal(size=3), rng.normal(size=(3, classes)), rng.normal(size=classes)
    p = softmax(x @ w + b)

    def loss(row):
        scores = row @ w + b
        return logsumexp(scores) - p @ scores

    step = 1e-3
    for j in range(3):
        move = step * np.eye(3)[j]
        curvature = (loss(x + move) - 2 * loss(x) + loss(x - move)) / step**2
        # The fourth derivative is of order w^4: an error of 1e-6 or so, and as much by rounding.
        assert undecided(p[None], w, 2.0)[0, j] == pytest.approx(curvature, abs=1e-4)


def test_for_a_number_it_is_the_variance_of_the_prediction():
    this_round = labelled_round(3, number=True)
    w = this_round.fit_linear_model().coefficients[:, 0]
    variances = this_round.completer.variance_
    np.testing.assert_allclose(PosteriorImpact().score(this_round), variances * w**2)
    np.testing.assert_allclose(PosteriorImpact(1).score(this_round), np.sqrt(variances) * np.abs(w))


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 4), number=st.booleans())
def test_units_and_origins_of_columns_cancel(seed, classes, number):
    rng = np.random.default_rng(seed)
    other = {"factor": 10.0 ** rng.integers(-3, 4, size=5), "shift": rng.normal(size=5)}
    for scorer in (PosteriorVariance(), PosteriorImpact(), PosteriorImpact(1.0)):
        here, there = (
            scorer.score(labelled_round(seed, classes, number, **units))
            for units in ({}, {**other, "shift": other["shift"] * other["factor"]})
        )
        # The solver of the logistic regression stops within 1e-4; rounding may change where.
        np.testing.assert_allclose(there, here, rtol=5e-3, atol=1e-4 * here.max())


def test_where_the_model_knows_nothing_impact_is_posterior_variance():
    this_round = labelled_round(0)
    for y, target in ((None, None), (np.where(this_round.y == 1, 1.0, np.nan), "classes")):
        silent = Round(this_round.X, y, target, this_round.completer, this_round.rng)
        np.testing.assert_array_equal(PosteriorImpact().score(silent), PosteriorVariance().score(silent))
        assert PosteriorImpact().score(silent).max() > 0


def test_a_column_that_matters_in_an_undecided_row_is_worth_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(float)
    X[:2] = [[np.nan, 0.0, np.nan], [np.nan, 5.0, np.nan]]
    completer = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    scores = PosteriorImpact().score(Round(X, y, "classes", completer, rng))
    assert scores[0].argmax() == 0
    assert scores[0, 0] > 100 * scores[1, 0]


def test_says_which_completer_would_do():
    X = np.array([[1.0, 2.0], [np.nan, 3.0]])
    this_round = Round(X, None, None, SupervisedCompleter().fit(X), np.random.default_rng(0))
    for scorer in (PosteriorVariance(), PosteriorImpact()):
        with pytest.raises(ParameterError, match=r"SupervisedCompleter has no variance_. Use GaussianCompl"):
            scorer.score(this_round)
    for power in (0, -1.0, np.nan, "2"):
        with pytest.raises(ParameterError, match="power must be a finite number, greater than 0"):
            PosteriorImpact(power)
