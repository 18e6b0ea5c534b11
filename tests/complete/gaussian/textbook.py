"""The textbook formulas, row by row: slow and plain."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal


def gaussian_table(rng, n, d, share, rank=3):
    """Return a table from a Gaussian, its mask of observed cells (no column empty), mean and covariance."""
    root = rng.normal(size=(d, rank)) / np.sqrt(rank)
    covariance = root @ root.T + np.diag(rng.uniform(0.1, 0.5, size=d))
    mean = rng.normal(size=d)
    X = rng.multivariate_normal(mean, covariance, size=n)
    observed = rng.random((n, d)) < share
    observed[rng.integers(n, size=d), np.arange(d)] = True
    return X, observed, mean, covariance


def condition(x, observed, mean, covariance):
    """Return mean (d,) and covariance (d, d) of a row given its observed cells."""
    o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
    gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
    full_mean, full_covariance = np.where(observed, x, 0.0), np.zeros_like(covariance)
    full_mean[m] = mean[m] + gain @ (x[o] - mean[o])
    full_covariance[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
    return full_mean, full_covariance


def log_likelihood(X, observed, mean, covariance):
    """Return the log-likelihood of the observed cells."""
    total = 0.0
    for x, seen in zip(X, observed, strict=True):
        o = np.flatnonzero(seen)
        if o.size:
            total += multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(x[o])
    return total


def em_step(X, observed, mean, covariance, shrinkage):
    """Return the next mean and covariance."""
    n, d = X.shape
    rows = [condition(x, seen, mean, covariance) for x, seen in zip(X, observed, strict=True)]
    completed = np.array([row[0] for row in rows])
    new_mean = completed.mean(axis=0)
    centred = completed - new_mean
    scatter = centred.T @ centred + sum(row[1] for row in rows) + shrinkage * np.eye(d)
    return new_mean, scatter / (n + shrinkage)
