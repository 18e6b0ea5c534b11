"""The scores of a judge, by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from cellworth import Table
from cellworth.model.candidates import candidate_named
from cellworth.model.feature_views import complete_features
from cellworth.simulation import full_information
from cellworth.simulation.evaluate import judge
from cellworth.simulation.hidden_truth import make_world


def test_the_judge_agrees_with_scikit_learn_by_hand(tumours):
    world = make_world(tumours, observed=0.5, train=0.7, seed=4)
    truth, X_test = world.scaled(world.truth), world.scaled(world.X_test)
    model = LinearSVC(random_state=0).fit(truth, world.y)
    full = full_information(tumours, classifier=LinearSVC(random_state=0), seed=4)
    assert full["accuracy"] == model.score(X_test, world.y_test)
    assert full["auc"] == roc_auc_score(world.y_test, model.decision_function(X_test))
    probable = LogisticRegression().fit(truth, world.y)
    judged = full_information(tumours, classifier=LogisticRegression(), seed=4)
    p = probable.predict_proba(X_test)[np.arange(len(world.y_test)), world.y_test.astype(int)]
    assert judged["log_loss"] == pytest.approx(-np.log(p).mean())


@pytest.mark.parametrize("name", ["logistic regression", "extra trees"])
def test_a_candidate_is_trained_on_the_rows_as_they_are(tumours, name):
    world = make_world(tumours, observed=1.0, train=0.7, seed=4)
    candidate = candidate_named(name, is_number=False)
    shown, tested = (complete_features(X, candidate.view) for X in (world.truth, world.X_test))
    P = clone(candidate.learner).fit(shown, world.y.astype(int)).predict_proba(tested)
    judged = judge(world, world.truth, world.truth, None, candidate)
    assert judged["reconstruction_error"] == 0
    assert judged["auc"] == roc_auc_score(world.y_test, P[:, 1])
    assert judged["accuracy"] == (P.argmax(axis=1) == world.y_test).mean()
    own = P[np.arange(len(P)), world.y_test.astype(int)]
    assert judged["log_loss"] == pytest.approx(-np.log(np.maximum(own, 1e-15)).mean(), rel=1e-3)


def test_a_candidate_for_a_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    table = Table.from_arrays(X, X[:, 0] + 0.1 * rng.normal(size=80), target_kind="number")
    world = make_world(table, observed=1.0, train=0.7, seed=0)
    judged = judge(world, world.truth, world.truth, None, candidate_named("ridge regression", is_number=True))
    spread = world.y_test.std()
    assert judged["r2"] == pytest.approx(1 - (judged["rmse"] / spread) ** 2)
    assert judged["r2"] > 0.9


def test_a_class_of_the_test_rows_alone_has_no_probability():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(59) % 2, 2]
    table = Table.from_arrays(rng.normal(size=(60, 3)) + y[:, np.newaxis], y, target_kind="several classes")
    worlds = (make_world(table, observed=1.0, train=0.7, seed=seed) for seed in range(50))
    world = next(world for world in worlds if 2 in world.y_test)
    judged = judge(
        world, world.truth, world.truth, None, candidate_named("logistic regression", is_number=False)
    )
    assert judged["accuracy"] < 1
    assert np.isfinite(judged["log_loss"])
