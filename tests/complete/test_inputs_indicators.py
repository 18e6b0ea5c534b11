"""Marks of holes and indicator columns, as scikit-learn's imputers have them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cellworth import AutoCompleter, GaussianCompleter, SupervisedCompleter
from cellworth.errors import ParameterError

COMPLETERS = [
    GaussianCompleter(margins="normal", label_trust=0.0, calibrate=False),
    SupervisedCompleter(),
    AutoCompleter(n_holds=1, time_budget=0.0),
]


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = np.nan_to_num(X[:, 2])  # one column without holes in fit
    new = X[::-1][:10].copy()
    new[0, 2] = np.nan
    return X, new


@pytest.mark.parametrize("completer", COMPLETERS, ids=lambda each: type(each).__name__)
def test_indicators_are_those_of_scikit_learn(completer, tables):
    X, new = tables
    peer = MissingIndicator(features="missing-only", error_on_new=False).fit(X)
    plain, marked = clone(completer).fit(X), clone(completer).set_params(add_indicator=True)
    both = marked.fit_transform(X)
    np.testing.assert_array_equal(both[:, :4], plain.completed_)
    np.testing.assert_array_equal(both[:, 4:], peer.transform(X))
    np.testing.assert_array_equal(marked.transform(new)[:, :4], plain.transform(new))
    np.testing.assert_array_equal(marked.transform(new)[:, 4:], peer.transform(new))
    assert marked.completed_.shape == X.shape


@pytest.mark.parametrize("completer", COMPLETERS[:2], ids=lambda each: type(each).__name__)
def test_names_are_those_of_scikit_learn(completer, tables):
    frame = pd.DataFrame(tables[0], columns=list("abcd"))
    names = clone(completer).set_params(add_indicator=True).fit(frame).get_feature_names_out()
    assert names.tolist() == SimpleImputer(add_indicator=True).fit(frame).get_feature_names_out().tolist()
    assert clone(completer).fit(frame).get_feature_names_out().tolist() == list("abcd")
    model = make_pipeline(clone(completer).set_params(add_indicator=True), LogisticRegression())
    assert model.fit(frame, frame["c"] > 0).predict(frame).shape == (60,)


@pytest.mark.parametrize("completer", COMPLETERS, ids=lambda each: type(each).__name__)
def test_a_number_may_mark_holes(completer, tables):
    X, new = tables
    coded, coded_new = np.nan_to_num(X, nan=-99.0), np.nan_to_num(new, nan=-99.0)
    plain = clone(completer).fit(X)
    marked = clone(completer).set_params(missing_values=-99).fit(coded)
    np.testing.assert_array_equal(marked.completed_, plain.completed_)
    np.testing.assert_array_equal(marked.transform(coded_new), plain.transform(new))
    assert (coded == -99).sum() == np.isnan(X).sum()  # the input stays as it is
    assert clone(completer).set_params(missing_values=np.nan).fit(X).completed_.shape == X.shape


def test_a_mark_is_a_number(tables):
    with pytest.raises(ParameterError, match="missing_values must be a number"):
        GaussianCompleter(missing_values="?").fit(tables[0])
