"""A fitted Gaussian on cells: left-out predictions, and its state."""

import numpy as np
import pytest

from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.interval_calibration import Calibration
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian
from tests.complete.gaussian import textbook


@pytest.fixture
def case():
    X, observed, mean, covariance = textbook.gaussian_table(np.random.default_rng(0), 30, 5, 0.6)
    fitted = FittedGaussian(DenseGaussian(mean, covariance), Margins((None,) * 5), 0.0, 3.0)
    return fitted, Cells(np.where(observed, X, 0), observed), X


def test_left_out_cells_are_predicted_from_the_others_of_their_row(case):
    fitted, cells, X = case
    left_out = fitted.left_out(X, cells, fitted.complete(cells))
    mean, covariance = fitted.model.mean, fitted.model.covariance
    for i, j in np.argwhere(cells.observed):
        others = cells.observed[i].copy()
        others[j] = False
        expected, spread = textbook.condition(X[i], others, mean, covariance)
        assert left_out.mean[i, j] == pytest.approx(expected[j], abs=1e-8)
        assert left_out.variance[i, j] == pytest.approx(spread[j, j], rel=1e-8)
        off = (X[i] - mean)[others]
        distance = off @ np.linalg.solve(covariance[np.ix_(others, others)], off) if others.any() else 0.0
        assert left_out.distance[i, j] == pytest.approx(distance, abs=1e-7)
        assert left_out.others[i, j] == others.sum()


def test_rows_far_from_the_mean_have_larger_variances_if_rows_differ_in_spread(case):
    fitted, cells, _ = case
    plain = fitted.posterior(cells)
    calibration = Calibration.normal(5)
    heavy = FittedGaussian(
        fitted.model,
        fitted.margins,
        0.0,
        3.0,
        calibration=Calibration(**{**vars(calibration), "tail": 4.0}),
    ).posterior(cells)
    residual = (cells.scores - fitted.model.mean) * cells.observed
    for i, o in enumerate(cells.observed):
        distance = residual[i, o] @ np.linalg.solve(fitted.model.covariance[np.ix_(o, o)], residual[i, o])
        expected = plain.variance[i] * (4 + distance) / (4 + o.sum())
        np.testing.assert_allclose(heavy.variance[i], expected, rtol=1e-8)


def test_a_state_brings_everything_back(case):
    fitted, cells, X = case
    known = fitted.calibrated(fitted.left_out(X, cells, fitted.complete(cells)))
    again = FittedGaussian.from_state(known.to_state())
    for one, other in zip(
        known.mean_and_variance(known.posterior(cells)),
        again.mean_and_variance(again.posterior(cells)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert again.shrinkage == 3.0
