"""Learners of the candidates."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cellworth.model.cross_validation import deal
from cellworth.model.learners import INVERSE_PENALTIES, TunedLogistic, linear, linear_svm, with_probabilities
from tests.model.holed_tables import holed


@pytest.mark.parametrize("classes", [2, 3])
def test_the_penalty_has_the_least_held_out_loss(classes):
    """Independent oracle: a plain loop over penalties and folds, each model from scratch."""
    _, y, X = holed(n=120, classes=classes, noise=2.0)
    model = TunedLogistic().fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    fold = deal(y.astype(float), 3, np.random.default_rng(0), classes=True)
    losses = []
    for C in INVERSE_PENALTIES:
        each = [LogisticRegression(C=C, max_iter=1000).fit(scaled[fold != k], y[fold != k]) for k in range(3)]
        losses.append(
            sum(
                log_loss(y[fold == k], each[k].predict_proba(scaled[fold == k]), normalize=False)
                for k in range(3)
            )
        )
    assert model.inverse_penalty_ == INVERSE_PENALTIES[int(np.argmin(losses))]
    plain = LogisticRegression(C=model.inverse_penalty_, max_iter=1000).fit(scaled, y)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(scaled), abs=1e-3)


def test_noise_gets_a_strong_penalty_and_rare_classes_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 10))
    assert TunedLogistic().fit(X, rng.integers(0, 2, 100)).inverse_penalty_ <= 0.1
    y = np.zeros(100)
    y[:2] = 1
    assert TunedLogistic().fit(X, y).inverse_penalty_ == 1.0


def test_ridge_and_machine():
    _, y, X = holed(n=120, classes=0)
    assert linear(is_number=True).fit(X, y).score(X, y) > 0.8
    _, y, X = holed(n=120)
    machine = with_probabilities(linear_svm()).fit(X, y)
    assert machine.predict_proba(X).shape == (120, 2)
    assert machine.score(X, y) > 0.8
    assert with_probabilities(LinearSVC()).get_params()["ensemble"] is False
    own = LogisticRegression()
    assert with_probabilities(own) is own
