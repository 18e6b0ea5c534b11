"""Candidates fitted with a completer that is already fitted."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cellworth import GaussianCompleter
from cellworth.errors import DataError
from cellworth.model import Candidate, fit_candidate
from cellworth.model.candidates import default_models
from cellworth.model.feature_views import View, draw_given_labels
from tests.model.holed_tables import holed


@pytest.fixture(scope="module")
def completed():
    X, y, whole = holed(n=120)
    return X, y.astype(float), whole, GaussianCompleter(label_trust=0.0, margins="normal").fit(X)


def test_it_is_the_learner_on_the_given_completion(completed):
    X, y, whole, completer = completed
    own = Candidate("own", View(), LogisticRegression())
    model = fit_candidate(own, completer, X, y, is_number=False)
    plain = LogisticRegression().fit(completer.completed_, y)
    assert np.array_equal(model.predict(whole), plain.predict_proba(whole))
    assert np.array_equal(model.predict(X), plain.predict_proba(completer.transform(X)))
    assert model.completer is completer
    draws = fit_candidate(
        Candidate("own", View("draws"), LogisticRegression()), completer, X, y, is_number=False
    )
    several = draw_given_labels(completer, X, y, 5, 0, is_number=False)
    stacked = LogisticRegression().fit(several.reshape(-1, 4), np.tile(y, 5))
    assert draws.predict(whole) == pytest.approx(stacked.predict_proba(whole))
    alike = completer.sample(5, 0, X, shared=True)
    averaged = np.mean([stacked.predict_proba(each) for each in alike], axis=0)
    assert draws.predict(X) == pytest.approx(averaged)


@pytest.mark.slow
@pytest.mark.parametrize("is_number", [False, True])
def test_every_candidate_predicts_complete_rows_and_rows_with_holes(is_number):
    X, y, whole = holed(n=200, classes=0 if is_number else 3)
    y = y.astype(float)
    y[::7] = np.nan
    completer = GaussianCompleter(label_trust=0.0, margins="normal").fit(X)
    for candidate in default_models(is_number=is_number):
        model = fit_candidate(candidate.name, completer, X, y, is_number=is_number)
        for rows in (whole, X):
            found = model.predict(rows)
            assert found.shape == (200, 1 if is_number else 3)
            assert np.isfinite(found).all()
            if not is_number:
                assert found.sum(axis=1) == pytest.approx(np.ones(200))


def test_an_average_is_the_mean_of_its_members(completed):
    X, y, _, completer = completed
    names = "logistic regression", "joint Gaussian"
    parts = [fit_candidate(name, completer, X, y, is_number=False).predict(X) for name in names]
    both = fit_candidate(" + ".join(names), completer, X, y, is_number=False)
    assert both.predict(X) == pytest.approx(np.mean(parts, axis=0))


def test_classes_without_rows_have_no_probability(completed):
    X, y, whole, completer = completed
    model = fit_candidate("logistic regression", completer, X, 2 * y, is_number=False, n_classes=4)
    assert np.array_equal(model.predict(whole)[:, [1, 3]], np.zeros((120, 2)))


def test_labels_must_fit_the_rows(completed):
    X, y, _, completer = completed
    with pytest.raises(DataError, match="120 rows and y 5 labels"):
        fit_candidate("logistic regression", completer, X, y[:5], is_number=False)
    with pytest.raises(DataError, match="no row has a label"):
        fit_candidate("logistic regression", completer, X, np.full(120, np.nan), is_number=False)
