import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from cellworth.simulation import full_information
from cellworth.simulation.hidden_truth import make_world


def test_the_judge_agrees_with_scikit_learn_by_hand(tumours):
    world = make_world(tumours, observed=0.5, train=0.7, seed=4)
    truth, X_test = world.scaled(world.truth), world.scaled(world.X_test)
    model = LinearSVC(random_state=0).fit(truth, world.y)
    full = full_information(tumours, seed=4)
    assert full["accuracy"] == model.score(X_test, world.y_test)
    assert full["auc"] == roc_auc_score(world.y_test, model.decision_function(X_test))
    probable = LogisticRegression().fit(truth, world.y)
    judged = full_information(tumours, classifier=LogisticRegression(), seed=4)
    p = probable.predict_proba(X_test)[np.arange(len(world.y_test)), world.y_test.astype(int)]
    assert judged["log_loss"] == pytest.approx(-np.log(p).mean())
