import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cellworth import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.model import Candidate
from cellworth.score import PosteriorVariance, Round, TrainingGain
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
