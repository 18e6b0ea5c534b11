"""What training labels say of columns: where they bear the model out, and where they do not."""

import numpy as np
import pytest
from scipy.special import expit

from cellworth.policy.information import Information
from cellworth.policy.label_evidence import LEAST_TRUST, column_trust
from cellworth.table import ColumnLayout


def believed(weights, seed=0):
    """Return what a logistic model with these weights expects of independent cells."""
    z = np.random.default_rng(seed).normal(size=(1, 4000, len(weights)))
    chance = expit(z @ np.asarray(weights))
    cells = [z[:, :, [place]] for place in range(len(weights))]
    outputs = np.stack([1 - chance, chance], axis=2)
    return Information.made(outputs, cells, np.ones((1, len(weights)), dtype=bool), [False] * len(weights))


def rows(weights, n=2000, seed=1):
    """Return cells with holes and labels of a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(weights)))
    y = (rng.random(n) < expit(X @ np.asarray(weights))).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    y[rng.random(n) < 0.1] = np.nan
    return X, y


def trust(model, truth, **said):
    X, y = rows(truth, **said)
    return column_trust(believed(model), ColumnLayout.of_numbers(len(model)), X, y, is_number=False)


def test_a_model_that_is_right_is_trusted():
    found = np.array([trust((2.0, 1.0), (2.0, 1.0), seed=seed) for seed in range(10)])
    # Four standard errors of the mean of ten.
    assert np.abs(found.mean(axis=0) - 1).max() < 4 * found.std(axis=0, ddof=1).max() / np.sqrt(10) + 0.02


def test_a_column_that_the_model_moves_with_in_vain_is_not():
    vain, tells = trust((1.5, 1.5), (0.0, 1.5))
    assert vain < 0.3
    assert tells > 1
    assert vain >= LEAST_TRUST


def test_few_labels_change_little():
    few = trust((1.5, 1.5), (0.0, 1.5), n=12)
    many = trust((1.5, 1.5), (0.0, 1.5))
    assert np.abs(few - 1).max() < np.abs(many - 1).max()
    assert trust((1.0, 1.0), (1.0, 1.0), n=9).tolist() == [1, 1]


def test_numbers_and_labels_of_one_class():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1, 4000, 2))
    information = Information.made(
        z.sum(axis=2, keepdims=True), [z[:, :, [0]], z[:, :, [1]]], np.ones((1, 2), dtype=bool), [False] * 2
    )
    X = rng.normal(size=(500, 2))
    layout = ColumnLayout.of_numbers(2)
    first = column_trust(information, layout, X, 3 * X[:, 0] + rng.normal(size=500), is_number=True)
    assert first[0] > 1.2
    assert first[1] == pytest.approx(LEAST_TRUST, abs=0.1)
    assert column_trust(information, layout, X, np.ones(500), is_number=True).tolist() == [1, 1]
