r"""A mixture of Gaussians fitted by EM to a table with holes: the rival of `TreeCompleter`.

With the responsibilities :math:`r_{ik} \propto \pi_k N(x_{i,o_i}; \mu_{k,o_i}, \Sigma_{k,o_io_i})`, a hole is
filled with the mean of the components' conditional means. Each covariance is shrunk towards that of the whole
table.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete import GaussianCompleter

COMPONENTS = (2, 4, 8)
HELD_OUT = 0.1
STEPS = 25
SHRINKAGE = 2.0  # rows per column


def fill_by_mixture(holed: FloatArray) -> FloatArray:
    """Return the table (n, d) with its holes filled; the number of components is chosen on hidden cells."""
    mean, width = np.nanmean(holed, axis=0), np.nanstd(holed, axis=0)
    X = (holed - mean) / width
    rng = np.random.default_rng(0)
    held = ~np.isnan(X) & (rng.random(X.shape) < HELD_OUT)
    trial = np.where(held, np.nan, X)
    start = GaussianCompleter(label_trust=0.0).fit(trial).completed_
    errors = [np.sum((complete(trial, start, k) - X)[held] ** 2) for k in COMPONENTS]
    whole = GaussianCompleter(label_trust=0.0).fit(X).completed_
    filled = complete(X, whole, COMPONENTS[int(np.argmin(errors))])
    return np.where(np.isnan(holed), filled * width + mean, holed)


def complete(X: FloatArray, start: FloatArray, n_components: int) -> FloatArray:
    """Return conditional means (n, d) under a mixture, for standardised X, NaN in its holes.

    ``start`` is X completed by another method. O(k n d^3) a step.
    """
    observed, (n, d) = ~np.isnan(X), X.shape
    values = np.where(observed, X, 0.0)
    labels = KMeans(n_components, n_init=3, random_state=0).fit_predict(start)
    weights = np.eye(n_components)[labels]
    common = np.cov(start.T, bias=True).reshape(d, d) + 1e-3 * np.eye(d)
    prior = SHRINKAGE * d
    parts = []
    for k in range(n_components):
        total = weights[:, k].sum()
        centre = (weights[:, k] @ start) / max(total, 1e-9)
        off = (start - centre) * np.sqrt(weights[:, k])[:, None]
        parts.append((total / n, centre, (off.T @ off + prior * common) / (total + prior)))
    for _ in range(STEPS):
        expected = [_expect(values, observed, centre, covariance) for _, centre, covariance in parts]
        logs = np.stack(
            [np.log(max(share, 1e-12)) + e[1] for (share, _, _), e in zip(parts, expected, strict=True)]
        )
        weights = np.exp(logs - logs.max(axis=0))
        weights /= weights.sum(axis=0)
        following = []
        for r, (means, _, inverses), (_, _, covariance) in zip(weights, expected, parts, strict=True):
            total = r.sum()
            centre = (r @ means) / max(total, 1e-9)
            off = (means - centre) * np.sqrt(r)[:, None]
            known = np.einsum("i,ijk->jk", r, inverses)
            within = total * covariance - covariance @ known @ covariance
            following.append((total / n, centre, (off.T @ off + within + prior * common) / (total + prior)))
        parts = following
    expected = [_expect(values, observed, centre, covariance) for _, centre, covariance in parts]
    filled: FloatArray = sum(r[:, None] * e[0] for r, e in zip(weights, expected, strict=True))
    return filled


def _expect(
    values: FloatArray, observed: BoolArray, centre: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return conditional means (n, d), log-densities of the observed cells (n,), and padded inverses."""
    d = len(centre)
    mask = observed[:, :, None] & observed[:, None, :]
    padded = np.where(mask, covariance, np.eye(d))  # the identity where nothing is observed
    inverses = np.where(mask, np.linalg.inv(padded), 0.0)
    residual = (values - centre) * observed
    weighted = np.einsum("ijk,ik->ij", inverses, residual)
    means = np.where(observed, values, centre + weighted @ covariance)
    _, log_determinants = np.linalg.slogdet(padded)
    square = np.einsum("ij,ij->i", residual, weighted)
    return means, -0.5 * (square + log_determinants + observed.sum(axis=1) * np.log(2 * np.pi)), inverses
