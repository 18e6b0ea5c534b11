import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cellworth.complete.linear_model import LinearModel


def complete_table(seed, n=80, d=4, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d) + rng.normal(size=d)
    scores = X / X.std(axis=0) @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    y = scores.argmax(axis=1).astype(float)
    y[:classes] = range(classes)
    return X, y


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_are_those_of_a_logistic_regression_on_standardised_columns(classes):
    X, y = complete_table(classes, classes=classes)
    model = LinearModel.fit(X, y, is_number=False)
    oracle = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=10_000)).fit(X, y)
    assert model.coefficients.shape == (4, classes)
    np.testing.assert_allclose(model.probabilities(X), oracle.predict_proba(X), atol=1e-3)


def test_the_coefficients_are_per_unit_of_the_column():
    X, y = complete_table(0)
    model = LinearModel.fit(X, y, is_number=False)
    moved = X.copy()
    moved[:, 1] += 3.0
    np.testing.assert_allclose(model.predict(moved) - model.predict(X), [3 * model.coefficients[1]] * len(X))
    odds = np.log(model.probabilities(X)[:, 1] / model.probabilities(X)[:, 0])
    weights = model.coefficients[:, 1] - model.coefficients[:, 0]
    np.testing.assert_allclose(odds - odds[0], (X - X[0]) @ weights, atol=1e-9)


def test_a_number_is_predicted_by_ridge_regression():
    X, _ = complete_table(1)
    y = X @ [1.0, 2.0, 0.0, -1.0] / X.std() + np.random.default_rng(0).normal(size=len(X))
    model = LinearModel.fit(X, y, is_number=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = np.linalg.solve(Z.T @ Z + np.eye(4), Z.T @ (y - y.mean()))
    np.testing.assert_allclose(model.predict(X)[:, 0], Z @ weights + y.mean())
    np.testing.assert_allclose(model.coefficients[:, 0], weights / X.std(axis=0))


@pytest.mark.parametrize("target", ["classes", "number"])
def test_rows_without_labels_teach_nothing_but_are_predicted(target):
    X, y = complete_table(2)
    y[40:] = np.nan
    model = LinearModel.fit(X, y, is_number=target == "number")
    other = y.copy()
    other[40:60] = 1 - y[:20]
    assert np.isfinite(model.predict(X)).all()
    changed = LinearModel.fit(X, other, is_number=target == "number")
    assert np.abs(changed.coefficients - model.coefficients).max() > 0.01 * np.abs(model.coefficients).max()


@pytest.mark.parametrize(
    ("y", "target"),
    [
        (None, None),
        (None, "classes"),
        (np.full(80, np.nan), "classes"),
        (np.where(np.arange(80) < 5, 1.0, np.nan), "classes"),
        (np.full(80, np.nan), "number"),
        (np.where(np.arange(80) == 3, 2.5, np.nan), "number"),
        (np.full(80, 0.1), "number"),
    ],
)
def test_without_two_different_labels_nothing_is_learned(y, target):
    X, _ = complete_table(3)
    model = LinearModel.fit(X, y, is_number=target == "number")
    assert not model.knows_something
    assert (model.coefficients == 0).all()
    np.testing.assert_array_equal(model.probabilities(X), np.ones((80, 1)))


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 4), number=st.booleans())
def test_units_and_origins_of_columns_do_not_matter(seed, classes, number):
    X, y = complete_table(seed, classes=classes)
    rng = np.random.default_rng(seed)
    factor, shift = 10.0 ** rng.integers(-3, 4, size=4), rng.normal(size=4)
    there = X * factor + shift * X.std(axis=0) * factor
    target = "number" if number else "classes"
    one, other = (LinearModel.fit(table, y, is_number=target == "number") for table in (X, there))
    # The solver of the logistic regression stops within 1e-4; rounding may change where.
    np.testing.assert_allclose(other.predict(there), one.predict(X), atol=2e-3)
