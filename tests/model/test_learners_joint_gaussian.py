"""The joint Gaussian with the label as a column, against least squares and discriminant analysis."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

from cellworth.model.learners import JointGaussian
from tests.model.holed_tables import holed


def test_without_holes_it_is_least_squares():
    """The posterior mean of the label is the regression; the penalty of the Gaussian shrinks it a little."""
    _, y, X = holed(n=400, classes=0)
    found = JointGaussian(is_number=True).fit(X, y).predict(X)
    expected = LinearRegression().fit(X, y).predict(X)
    assert np.corrcoef(found, expected)[0, 1] > 0.995


@pytest.mark.parametrize("classes", [2, 3])
def test_without_holes_it_ranks_like_discriminant_analysis(classes):
    _, y, X = holed(n=400, classes=classes)
    model = JointGaussian().fit(X, y)
    P = model.predict_proba(X)
    assert P.sum(axis=1) == pytest.approx(np.ones(len(X)))
    expected = LinearDiscriminantAnalysis().fit(X, y)
    assert np.mean(model.predict(X) == expected.predict(X)) > 0.93
    if classes == 2:
        ranks = [np.argsort(np.argsort(p)) for p in (P[:, 1], expected.predict_proba(X)[:, 1])]
        assert np.corrcoef(*ranks)[0, 1] > 0.99


def test_holes_are_integrated_out():
    """Of a row whose only informative cell is missing, little is known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    holed_rows = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    model = JointGaussian().fit(holed_rows, y)
    P = model.predict_proba([[2.0, np.nan], [np.nan, 2.0]])[:, 1]
    assert P[0] > 0.9
    assert abs(P[1] - 0.5) < 0.3


@pytest.mark.parametrize("classes", [0, 3])
def test_columns_without_a_value_in_labelled_rows_are_left_out(classes, recwarn):
    X, y, _ = holed(n=120, classes=classes)
    wide = np.insert(X, [0, 2], np.nan, axis=1)
    found = JointGaussian(is_number=not classes).fit(wide, y)
    expected = JointGaussian(is_number=not classes).fit(X, y)
    new = np.where(np.isnan(wide), 1.0, wide)
    rest = np.delete(new, [0, 3], axis=1)
    np.testing.assert_array_equal(found.predict(new), expected.predict(rest))
    assert not [each for each in recwarn if "left out" in str(each.message)]
