"""Learners of the candidates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cellworth.complete import GaussianCompleter
from cellworth.model.cross_validation import deal
from cellworth.model.learners import (
    INVERSE_PENALTIES,
    LEAST_WIDTH,
    PENALTIES,
    KnownUnits,
    TunedLogistic,
    TunedRidge,
    linear,
    linear_svm,
    with_probabilities,
)
from tests.model.holed_tables import holed


@pytest.mark.parametrize("classes", [2, 3])
def test_the_penalty_has_the_least_held_out_loss(classes):
    """Independent oracle: a plain loop over penalties and folds, each model from scratch."""
    _, y, X = holed(n=120, classes=classes, noise=2.0)
    scaled = StandardScaler().fit_transform(X)
    model = TunedLogistic().fit(scaled, y)
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
    assert model.predict_proba(scaled) == pytest.approx(plain.predict_proba(scaled), abs=1e-3)


def test_noise_gets_a_strong_penalty_and_rare_classes_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 10))
    assert TunedLogistic().fit(X, rng.integers(0, 2, 100)).inverse_penalty_ <= 0.1
    y = np.zeros(100)
    y[:2] = 1
    assert TunedLogistic().fit(X, y).inverse_penalty_ == 1.0


def with_mask(X, holes=None):
    """Return filled rows as the linear learners see them."""
    return np.hstack([X, np.zeros(X.shape) if holes is None else holes])


@given(
    arrays(np.float64, (9, 3), elements=st.floats(-1e6, 1e6)),
    arrays(np.bool_, (9, 3)),
    arrays(np.int64, 9, elements=st.integers(0, 3)),
)
def test_units_are_those_of_the_known_cells(X, holes, counts):
    """Oracle: NumPy's mean and deviation of the known cells, rows repeated as often as they count."""
    holes[:2] = False
    counts[:2] = 1
    units = KnownUnits().fit(with_mask(X, holes), sample_weight=counts)
    known = np.repeat(np.where(holes, np.nan, X), counts, axis=0)
    width = np.nanstd(known, axis=0)
    width[width <= LEAST_WIDTH * np.abs(X).max(axis=0)] = 1.0
    expected = (X - np.nanmean(known, axis=0)) / width
    assert units.transform(with_mask(X)) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_column_without_known_cells_keeps_its_fills():
    X = np.array([[1.0, 2.0], [3.0, 2.0]])
    units = KnownUnits().fit(with_mask(X, [[False, True], [False, True]]))
    assert units.transform(with_mask(X)) == pytest.approx(np.array([[-1.0, 0.0], [1.0, 0.0]]))


@pytest.mark.parametrize("is_number", [True, False])
def test_columns_of_which_little_is_known_do_not_spoil_complete_rows(is_number):
    """Three columns that count are known; of sixty that do not, a tenth, and the rest are means.

    The fills say nothing, so a coefficient of the sixty rests on its 30 known cells alone. The oracle is the
    same learner in units of the filled columns, the mean over five tables: the spread of the difference
    between tables is a third of it or less.
    """
    gains = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, X_new = rng.normal(size=(300, 63)), rng.normal(size=(2000, 63))
        y, y_new = (each[:, :3].sum(axis=1) + rng.normal(size=len(each)) for each in (X, X_new))
        if not is_number:
            y, y_new = (each > 0 for each in (y, y_new))
        holes = rng.random(X.shape) < 0.9
        holes[:, :3] = False
        filled = np.where(holes, 0.0, X)
        ours = linear(is_number=is_number).fit(with_mask(filled, holes), y)
        theirs = linear(is_number=is_number).fit(with_mask(filled), y)
        gains.append(ours.score(with_mask(X_new), y_new) - theirs.score(with_mask(X_new), y_new))
    assert np.mean(gains) > 0.05


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_stays_within_the_labels_that_count(weighted):
    """Oracle: scikit-learn's ridge regression on the rows that count, and the ends of their labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X.sum(axis=1) + rng.normal(size=60)
    y[0] = 50.0
    counts = (np.arange(60) > 0).astype(float) if weighted else None
    some = slice(1, None) if weighted else slice(None)
    model, theirs = TunedRidge().fit(X, y, counts), RidgeCV(PENALTIES).fit(X[some], y[some])
    assert model.penalty_ == theirs.alpha_
    far = 20 * rng.normal(size=(200, 4))
    expected = np.clip(theirs.predict(far), y[some].min(), y[some].max())
    assert model.predict(far) == pytest.approx(expected)
    assert (expected == y[some].max()).any()


def test_complete_rows_of_a_curve_are_predicted_less_wildly():
    """Forty readings of a curve, a tenth of them known: the label is in how neighbours differ.

    Filled rows have little of these differences. The oracle is scikit-learn's ridge regression in the same
    units. On ten tables the R2 on complete rows was higher by 0.00 to 6, and by more than 0.05 on seven.
    """
    at, gains = np.linspace(0, 2, 40), []
    shapes = np.stack([np.sin((k + 1) * at + k) for k in range(6)])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        parts = rng.normal(size=(620, 6)) * [5.0, 1.0, 0.5, 0.3, 0.1, 0.05]
        X, y = parts @ shapes, parts @ [0.0, 1.0, 1.0, 3.0, 5.0, 5.0] + 0.3 * rng.normal(size=620)
        holes = rng.random((120, 40)) < 0.9
        filled = GaussianCompleter(label_trust=0.0).fit(np.where(holes, np.nan, X[:120])).completed_
        ours, theirs = (
            make_pipeline(KnownUnits(), each).fit(with_mask(filled, holes), y[:120])
            for each in (TunedRidge(), RidgeCV(PENALTIES))
        )
        gains.append(ours.score(with_mask(X[120:]), y[120:]) - theirs.score(with_mask(X[120:]), y[120:]))
    assert min(gains) > -0.01
    assert np.sum(np.array(gains) > 0.05) >= 4


def test_ridge_and_machine():
    _, y, X = holed(n=120, classes=0)
    X = with_mask(X)
    assert linear(is_number=True).fit(X, y).score(X, y) > 0.8
    _, y, X = holed(n=120)
    X = with_mask(X)
    machine = with_probabilities(linear_svm()).fit(X, y)
    assert machine.predict_proba(X).shape == (120, 2)
    assert machine.score(X, y) > 0.8
    assert with_probabilities(LinearSVC()).get_params()["ensemble"] is False
    own = LogisticRegression()
    assert with_probabilities(own) is own
