import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cellworth import GaussianCompleter
from cellworth.complete.linear_model import variance_reduction
from cellworth.errors import ParameterError
from cellworth.score import Round
from cellworth.score.label_scorers import (
    ErrorReduction,
    LabelUncertainty,
    entropy_reduction,
)
from cellworth.testing import check_scorer


def made_round(number=False, seed=0, n=120, classes=2, prices=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (
        X[:, 0]
        if number
        else np.digitize(X[:, 0], np.linspace(-0.7, 0.7, classes - 1) if classes > 2 else [0])
    )
    y = np.where(rng.random(n) < 0.6, np.nan, y * 1.0)
    X = np.where(rng.random(X.shape) < 0.8, X, np.nan)
    completer = GaussianCompleter(margins="normal", label_trust=0.0).fit(X)
    kind = "number" if number else "classes"
    of_labels = np.ones(n) if prices else None
    return Round(X, y, kind, completer, np.random.default_rng(1), label_prices=of_labels)


SCORERS = [LabelUncertainty("ridge regression"), LabelUncertainty("logistic regression"), ErrorReduction()]


@pytest.mark.parametrize("scorer", SCORERS, ids=["committee", "entropy", "error reduction"])
def test_only_missing_labels_have_a_worth(scorer):
    number = getattr(scorer, "model", "") == "ridge regression"
    for classes in (2, 3):
        this_round = made_round(number=number, classes=classes)
        scores = scorer.score(this_round)
        assert scores.shape == (120, 4)
        assert not scores[:, :-1].any()
        assert not scores[~this_round.unlabelled, -1].any()
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        assert scores[:, -1].any()
        assert scorer.labels_only


@pytest.mark.slow
@pytest.mark.parametrize("scorer", [LabelUncertainty, ErrorReduction])
def test_keeps_the_contract_of_scorers(scorer):
    check_scorer(scorer())


def test_without_a_model_all_missing_labels_are_worth_the_same():
    this_round = made_round()
    one = Round(
        this_round.X,
        np.where(this_round.y == 1, 1.0, np.nan),
        "classes",
        this_round.completer,
        this_round.rng,
        label_prices=np.ones(120),
    )
    for scorer in (LabelUncertainty(), ErrorReduction()):
        np.testing.assert_array_equal(scorer.score(one)[:, -1], np.isnan(one.y))


def test_the_variance_reduction_is_that_of_retraining():
    rng = np.random.default_rng(0)
    X, judged, labelled = rng.normal(size=(30, 4)), rng.normal(size=(50, 4)), rng.random(30) < 0.5
    found = variance_reduction(X, judged, labelled)

    def variance(rows):
        H = X[rows].T @ X[rows] + np.eye(4)
        return np.trace(judged @ np.linalg.inv(H) @ judged.T)

    for i in np.flatnonzero(~labelled):
        after = labelled.copy()
        after[i] = True
        assert found[i] == pytest.approx(variance(labelled) - variance(after))


def entropy(p):
    return -(p * np.log(p)).sum(axis=1).mean()


def test_the_entropy_reduction_follows_that_of_retraining():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 2)), np.ones(80)])
    y = (X[:, 0] + 0.7 * rng.normal(size=80) > 0).astype(int)
    labelled = np.arange(80) < 40
    model = LogisticRegression(C=1.0, fit_intercept=False).fit(X[labelled], y[labelled])
    coefficients = np.column_stack([-model.coef_[0] / 2, model.coef_[0] / 2])
    found = entropy_reduction(X, X, labelled, coefficients)
    P = model.predict_proba(X)
    exact = np.zeros(80)
    for i in range(40, 80):
        for label in (0, 1):
            rows = np.append(np.flatnonzero(labelled), i)
            again = LogisticRegression(C=1.0, fit_intercept=False).fit(X[rows], np.append(y[:40], label))
            exact[i] += P[i, label] * (entropy(P) - entropy(again.predict_proba(X)))
    # A Newton step in the multinomial form moves each class by itself: the order is kept, not the size.
    assert np.corrcoef(found[40:], exact[40:])[0, 1] > 0.9


def test_a_committee_has_two_members_or_more():
    with pytest.raises(ParameterError, match="members"):
        LabelUncertainty(members=1)
