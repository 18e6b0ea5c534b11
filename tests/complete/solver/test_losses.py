import numpy as np
import pytest

from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredLoss, loss_for
from cellworth.errors import ParameterError
from tests.complete.solver.loss_contract import check_loss

from .problems import LOSSES


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES, ids=lambda v: getattr(type(v), "__name__", v))
def test_gradient_and_curvature_agree_with_finite_differences(loss, n_outputs, seed):
    check_loss(loss, n_outputs=n_outputs, seed=seed)


@pytest.mark.parametrize(
    ("loss", "scores", "targets"),
    [
        (SquaredLoss(), [[3.0]], [[1.0]]),
        (LogisticLoss(), [[0.0]], [[1.0]]),
        (MultinomialLoss(), [[0.0, 0.0, -50.0]], [[1.0, 0.0, 0.0]]),
    ],
)
def test_curvature_is_the_smallest_bound(loss, scores, targets):
    """At these scores the Hessian's largest eigenvalue reaches the stated constant."""
    scores, targets, step = np.array(scores), np.array(targets), 1e-5
    moves = np.eye(scores.shape[1]) * step
    hessian = [
        (loss.gradient(scores + m, targets) - loss.gradient(scores - m, targets))[0] / (2 * step)
        for m in moves
    ]
    assert np.linalg.eigvalsh(np.array(hessian)).max() == pytest.approx(loss.curvature, rel=1e-4)


def test_extreme_scores_stay_finite():
    for loss, n_outputs in LOSSES:
        targets = np.eye(n_outputs)[:1] if loss.coding == "one-hot" else np.ones((1, n_outputs))
        for scale in (-1e6, 1e6):
            scores = scale * np.arange(1.0, n_outputs + 1)[None]
            assert np.isfinite(loss.value(scores, targets)).all()
            assert np.isfinite(loss.gradient(scores, targets)).all()


def test_two_class_multinomial_is_logistic():
    scores = np.random.default_rng(0).normal(size=(20, 1))
    two = np.hstack([np.zeros((20, 1)), scores])
    signs = np.where(np.arange(20) % 2, 1.0, -1.0)[:, None]
    one_hot = np.hstack([signs < 0, signs > 0]).astype(float)
    np.testing.assert_allclose(MultinomialLoss().value(two, one_hot), LogisticLoss().value(scores, signs))


def test_a_loss_that_cheats_is_caught():
    class WrongSlope(SquaredLoss):
        def gradient(self, scores, targets):
            return scores - targets  # off by the factor 2

    class WrongCurvature(SquaredLoss):
        curvature = 1.0

    for cheat in (WrongSlope(), WrongCurvature()):
        with pytest.raises(AssertionError):
            check_loss(cheat)


def test_unknown_name_and_numbers_with_a_class_loss():
    with pytest.raises(ParameterError, match="'squared', 'logistic', 'squared_hinge'; got 'hinge'"):
        loss_for("hinge", n_classes=2)
    with pytest.raises(ParameterError, match="the target is a number; use loss='squared'"):
        loss_for("logistic", n_classes=None)
