"""Labels as columns with a trust."""

import numpy as np
import pytest

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.label_trust import TRUSTS, row_losses, temper
from cellworth.complete.labels import code_labels
from studies.protocol import reconstruction_error
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import plain


def labelled_table(seed=0, n=600, d=5):
    rng = np.random.default_rng(seed)
    X, observed, *_ = textbook.gaussian_table(rng, n, d, 0.5)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, np.where(observed, X, np.nan), y


def test_trust_goes_from_ignoring_a_label_to_believing_it():
    _, holed, y = labelled_table()
    number = y + 0.0
    fits = {t: plain(shrinkage=3.0, label_trust=t, target="number") for t in (0.0, 1e-9, 0.5, 1.0)}
    filled = {t: fit.fit(holed, number).completed_ for t, fit in fits.items()}
    without = plain(shrinkage=3.0).fit(holed).completed_
    np.testing.assert_array_equal(filled[0.0], without)
    as_column = plain(shrinkage=3.0).fit(np.column_stack([holed, number])).completed_[:, :5]
    np.testing.assert_allclose(filled[1.0], as_column, atol=1e-8)
    np.testing.assert_allclose(filled[1e-9], filled[0.0], atol=0.2)
    gap = [np.abs(filled[t] - filled[1.0]).sum() for t in (1e-9, 0.5, 1.0)]
    assert gap[0] > gap[1] > gap[2] == 0


def test_tempering_adds_noise_to_the_label_alone():
    model = DenseGaussian(np.zeros(3), np.diag([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(np.diag(temper(model, 0.25, 1).covariance), [1, 2, 16])


def test_labels_help_to_complete_and_are_trusted():
    truth, holed, y = labelled_table(1)
    fitted = GaussianCompleter().fit(holed, y)
    without = GaussianCompleter().fit(holed)
    assert fitted.label_trust_ in TRUSTS
    assert fitted.label_trust_ > 0
    assert without.label_trust_ == 0
    assert reconstruction_error(fitted.completed_, truth) < reconstruction_error(without.completed_, truth)


def test_random_labels_and_few_labels_do_no_harm():
    truth, holed, _ = labelled_table(2)
    rng = np.random.default_rng(2)
    without = reconstruction_error(GaussianCompleter().fit(holed).completed_, truth)
    for y in (rng.integers(2, size=600), np.where(np.arange(600) < 10, rng.integers(2, size=600), np.nan)):
        y[:2] = [0, 1]
        fitted = GaussianCompleter().fit(holed, y)
        assert reconstruction_error(fitted.completed_, truth) < 1.01 * without


@pytest.mark.parametrize("kind", ["words", "three", "number", "partly"])
def test_all_kinds_of_labels_take_part(kind):
    truth, holed, y = labelled_table(3)
    labels = {
        "words": np.array(["no", "yes"])[y],
        "three": np.digitize(truth[:, 0], [-1, 1]).astype(str),
        "number": truth[:, 0] + truth[:, 1],
        "partly": np.where(np.arange(600) % 3 == 0, np.nan, y),
    }[kind]
    fitted = GaussianCompleter(margins="normal", label_trust=0.7).fit(holed, labels)
    assert fitted.label_trust_ == 0.7
    assert np.isfinite(fitted.completed_).all()
    assert fitted.sample(2, 0).shape == (2, 600, 5)
    assert fitted.predict_interval()[0].shape == (600, 5)
    assert fitted.covariance_.shape == (5, 5)
    np.testing.assert_array_equal(fitted.transform(truth), truth)


def test_ranking_loss_is_one_minus_the_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(4)
    y = rng.integers(2, size=80)
    score = np.round(y + rng.normal(size=80), 1)
    labels = code_labels(y, 80, "logistic", "classes")
    losses = row_losses(score[:, None], labels.targets, labels.loss, is_number=False)
    for c in (0, 1):
        assert losses[y == c].mean() == pytest.approx(1 - roc_auc_score(y, score))


@pytest.mark.slow
def test_many_classes_that_are_noise_are_not_trusted():
    """Of twelve draws, as many as in one of a chance of a sixth: P(at most 4) = 0.96."""
    trusted = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, observed, *_ = textbook.gaussian_table(rng, 200, 8, 0.6)
        y = rng.integers(50, size=200)
        trusted += GaussianCompleter(margins="normal").fit(np.where(observed, X, np.nan), y).label_trust_ > 0
    assert trusted <= 4


def test_label_columns_count_in_the_leverage():
    """Labels of noise, trusted by force, make the completion worse, and intervals must say so."""
    rng = np.random.default_rng(2)
    X, observed, *_ = textbook.gaussian_table(rng, 200, 8, 0.6)
    holed, y = np.where(observed, X, np.nan), rng.integers(20, size=200)
    lower, upper = GaussianCompleter(margins="normal", label_trust=1.0).fit(holed, y).predict_interval()
    assert ((lower <= X) & (upper >= X))[~observed].mean() > 0.85  # 0.79 if they do not count
