r"""Smooth losses of a linear model's scores, the supervised term of Eq. (1).

A row with features :math:`x_i` has the scores :math:`s_i = W^\top x_i + b`, one per output. A loss maps
scores and targets to one number per row. The solver needs only its value, its gradient with respect to
the scores, and a bound :math:`c` on the spectral norm of its Hessian with respect to the scores. The
gradient with respect to the features is then
:math:`\nabla_x \ell = W \nabla_s \ell`, with Lipschitz constant :math:`c \|W\|_2^2`.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit, log_softmax, softmax

from cellworth.arrays import FloatArray
from cellworth.errors import ParameterError


@runtime_checkable
class Loss(Protocol):
    """What the solver needs from a loss.

    Attributes
    ----------
    coding : {"signs", "one-hot"}
        How classes become targets: -1/+1 in each column, or 0/1 with a single 1 per row. Numbers are
        used as they are.
    curvature : float
        Upper bound, over all scores and targets, on the largest eigenvalue of the Hessian of one
        row's loss with respect to its scores.
    """

    coding: ClassVar[Literal["signs", "one-hot"]]
    curvature: ClassVar[float]

    def value(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of each row, shape (n,), from two (n, n_outputs) arrays."""

    def gradient(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the derivative of each row's loss with respect to its scores, (n, n_outputs)."""

    def hessian(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the second derivatives of each row's loss, (n, n_outputs, n_outputs)."""


class SquaredLoss:
    """Sum over outputs of ``(score - target)**2``, without a factor of one half, as in the paper."""

    coding: ClassVar[Literal["signs", "one-hot"]] = "signs"
    curvature: ClassVar[float] = 2.0

    def value(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        residual = scores - targets
        return np.einsum("ij,ij->i", residual, residual)

    def gradient(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the derivative with respect to the scores, (n, n_outputs)."""
        return 2 * (scores - targets)

    def hessian(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the second derivatives, (n, n_outputs, n_outputs)."""
        return _diagonal(np.full_like(scores, 2.0))


class LogisticLoss:
    """Sum over outputs of ``log(1 + exp(-target * score))``, targets -1 or +1."""

    coding: ClassVar[Literal["signs", "one-hot"]] = "signs"
    curvature: ClassVar[float] = 0.25

    def value(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        return np.logaddexp(0, -targets * scores).sum(axis=1)

    def gradient(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the derivative with respect to the scores, (n, n_outputs)."""
        return -targets * expit(-targets * scores)

    def hessian(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the second derivatives, (n, n_outputs, n_outputs)."""
        return _diagonal(expit(scores) * expit(-scores))


class SquaredHingeLoss:
    """Sum over outputs of ``max(0, 1 - target * score)**2``, targets -1 or +1."""

    coding: ClassVar[Literal["signs", "one-hot"]] = "signs"
    curvature: ClassVar[float] = 2.0

    def value(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        slack = np.maximum(1 - targets * scores, 0)
        return np.einsum("ij,ij->i", slack, slack)

    def gradient(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the derivative with respect to the scores, (n, n_outputs)."""
        return -2 * targets * np.maximum(1 - targets * scores, 0)

    def hessian(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the second derivatives, (n, n_outputs, n_outputs); 0 at the kink."""
        return _diagonal(np.where(targets * scores < 1, 2.0, 0.0))


class MultinomialLoss:
    """``-log softmax(scores)[class]``, targets one-hot: the logistic loss of several classes.

    The Hessian is ``diag(p) - p p^T``; its largest eigenvalue is at most 1/2, reached when two
    classes have probability 1/2 each.
    """

    coding: ClassVar[Literal["signs", "one-hot"]] = "one-hot"
    curvature: ClassVar[float] = 0.5

    def value(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the loss of each row, (n,)."""
        return -np.einsum("ij,ij->i", targets, log_softmax(scores, axis=1))

    def gradient(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the derivative with respect to the scores, (n, n_outputs)."""
        probabilities: FloatArray = softmax(scores, axis=1)
        return probabilities - targets

    def hessian(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the second derivatives, (n, n_outputs, n_outputs)."""
        probabilities: FloatArray = softmax(scores, axis=1)
        return _diagonal(probabilities) - probabilities[:, :, None] * probabilities[:, None, :]


def _diagonal(rows: FloatArray) -> FloatArray:
    """Return diagonal matrices (n, q, q) from their diagonals (n, q)."""
    return np.asarray(rows[:, :, None] * np.eye(rows.shape[1]))


LOSS_NAMES = ("squared", "logistic", "squared_hinge")


def loss_for(name: str, *, n_classes: int | None) -> Loss:
    """Return the loss of a given name for ``n_classes`` classes, or for a number if None."""
    if name not in LOSS_NAMES:
        raise ParameterError(f"loss must be one of {', '.join(map(repr, LOSS_NAMES))}; got {name!r}")
    if name == "squared":
        return SquaredLoss()
    if n_classes is None:
        raise ParameterError(
            f"loss={name!r} needs classes, but the target is a number; use loss='squared', or "
            "target='classes' if the numbers encode classes"
        )
    if name == "squared_hinge":
        return SquaredHingeLoss()
    return LogisticLoss() if n_classes <= 2 else MultinomialLoss()
