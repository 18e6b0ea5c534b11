"""The search among candidates."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cellworth import GaussianCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.model import model_search
from cellworth.model.candidates import Candidate
from cellworth.model.feature_views import View
from cellworth.model.model_search import choose_model
from tests.model.holed_tables import holed

LIGHT = GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)
GOOD = Candidate("good", View(), LogisticRegression())
COIN = Candidate("coin", View(), DummyClassifier())


def choose(candidates, known=0.6, **settings):
    X, y, _ = holed(known=known)
    return choose_model(
        X, y.astype(float), is_number=False, candidates=candidates, completer=LIGHT, folds=3, **settings
    )


def test_the_better_candidate_wins_whatever_the_order():
    for order in ([GOOD, COIN], [COIN, GOOD]):
        chosen = choose(order, averages=False)
        assert chosen.name == "good"
        scores = {each.candidate.name: each.at_hand.value for each in chosen.tried}
        assert scores["coin"] == 0.5
        assert scores["good"] > 0.7


def test_of_equals_the_first_wins():
    twin = Candidate("twin", View(), LogisticRegression())
    assert choose([GOOD, twin], averages=False).name == "good"


def test_the_average_is_of_those_that_are_not_clearly_worse():
    """Two that err in different rows are better together; one that guesses is left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=200) > 0
    halves = [
        Candidate(f"column {place}", View(), make_pipeline(Only([place]), LogisticRegression()))
        for place in (0, 1)
    ]
    settings = {"is_number": False, "completer": LIGHT, "folds": 3}
    noise = Candidate("noise", View(), Shuffled())
    together = choose_model(X, y.astype(float), candidates=[noise, *halves], **settings)
    assert {each.name for each in together.candidate.members} == {each.name for each in halves}
    assert [each.candidate.name for each in together.tried][3:] == [together.name]
    assert together.best is together.tried[-1]
    singles = [each.at_hand.value for each in together.tried[:3]]
    assert together.best.at_hand.value > max(singles)
    assert choose_model(X, y.astype(float), candidates=[GOOD, noise], **settings).name == "good"


def test_a_candidate_that_fails_is_in_no_average():
    chosen = choose(
        [GOOD, Candidate("broken", View(), Broken()), Candidate("twin", View(), LogisticRegression())]
    )
    assert chosen.name == "good + twin"


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("no")


class Only(TransformerMixin, BaseEstimator):
    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[:, list(self.columns)]


class Shuffled(ClassifierMixin, BaseEstimator):
    """Probabilities that have nothing to do with the rows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.random.default_rng(len(X)).random(len(X))
        return np.column_stack([1 - p, p])


def test_either_score_decides():
    """Where holes tell the class, a learner that sees the mask wins at hand."""
    X, y, _ = holed(n=200)
    X[(y == 1) & (np.arange(200) % 10 > 0), 3] = np.nan
    masked = Candidate("mask", View("mean", mask=True), LogisticRegression())
    settings = {"is_number": False, "candidates": [GOOD, masked], "completer": LIGHT, "averages": False}
    assert choose_model(X, y.astype(float), rows="as they are", **settings).name == "mask"


def test_a_candidate_that_fails_is_reported():
    broken = Candidate("broken", View(), LogisticRegression(C=-1))
    chosen = choose([broken, GOOD])
    assert chosen.name == "good"
    assert "InvalidParameterError" in chosen.tried[0].reason
    with pytest.raises(DataError, match=r"no candidate could be trained.*broken"):
        choose([broken])


def test_repeats_and_a_sample_of_long_tables(monkeypatch):
    once, thrice = choose([GOOD]), choose([GOOD], repeats=3)
    assert once.best.at_hand.value != thrice.best.at_hand.value
    monkeypatch.setattr(model_search, "MOST_ROWS", 60)
    assert len(choose([GOOD]).best.at_hand.influence) == 60


def test_labels_are_checked():
    X, y, _ = holed(n=40)
    for labels, is_number, words in (
        (np.full(40, np.nan), False, "no row has a label"),
        (np.zeros(40), False, "one class"),
        (np.arange(40) < 3, False, "at least 5 in each of two classes"),
        (np.ones(40), True, "at least 10 rows"),
    ):
        with pytest.raises(DataError, match=words):
            choose_model(X, labels.astype(float), is_number=is_number)
    with pytest.raises(ParameterError, match="folds"):
        choose_model(X, y.astype(float), is_number=False, folds=1)
    with pytest.raises(ParameterError, match="cell_of must have one number for each of the 4 columns"):
        choose_model(X, y.astype(float), is_number=False, cell_of=np.arange(3))
