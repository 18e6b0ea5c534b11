"""The search among candidates."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from cellworth import GaussianCompleter
from cellworth.errors import DataError, ParameterError
from cellworth.model import model_search
from cellworth.model.candidates import Candidate
from cellworth.model.model_search import choose_model
from cellworth.model.row_views import View
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
    assert choose([GOOD, twin]).name == "good"


def test_averages_are_of_the_best():
    third = Candidate("third", View(), LogisticRegression(C=1e-4))
    chosen = choose([COIN, GOOD, third])
    names = [each.candidate.name for each in chosen.tried]
    assert sorted(names[3].split(" + ")) == ["good", "third"]
    assert len(names[4].split(" + ")) == 3


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
