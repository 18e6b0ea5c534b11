"""Candidates and tables for the tests of the choice of a completer."""

import numpy as np
from sklearn.base import BaseEstimator

from cellworth.complete import GaussianCompleter, NNLSCompleter
from cellworth.complete.auto_candidates import ColumnMeanCompleter

QUICK = [
    ("gaussian", GaussianCompleter(margins="normal", label_trust=0.0)),
    ("means", ColumnMeanCompleter()),
    ("nnls", NNLSCompleter()),
]


def gaussian(seed, n=250, d=8):
    """Return a table of correlated normal columns, and the same with 30 % holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, np.where(rng.random(X.shape) < 0.7, X, np.nan)


class Broken(BaseEstimator):
    """Raises an error, leaves holes, or gives a table of another shape; on all tables or on complete ones."""

    def __init__(self, how="raises", on="all"):
        self.how = how
        self.on = on

    def fit_transform(self, X, y=None):
        if self.on == "whole" and len(X) < 60:
            return np.nan_to_num(X)
        if self.how == "raises":
            raise RuntimeError("out\n of luck")
        return X[:, :-1] if self.how == "shape" else X

    def transform(self, X):
        return X


class Knowing(BaseEstimator):
    """Fills holes with the truth and some noise, in standard deviations of the columns; has variances."""

    def __init__(self, truth, noise=0.5, seed=0):
        self.truth = truth
        self.noise = noise
        self.seed = seed

    def fit_transform(self, X, y=None):
        off = self.noise * np.random.default_rng(self.seed).normal(size=self.truth.shape)
        rows = [int(np.argmin(np.nansum(np.abs(self.truth - x), axis=1))) for x in X]
        return np.where(np.isnan(X), (self.truth + off * self.truth.std(axis=0))[rows], X)

    def transform(self, X):
        return self.fit_transform(X)

    def predict_interval(self, level=0.9, X=None):
        raise NotImplementedError


class Guessing(Knowing):
    """Another family, without variances."""

    predict_interval = property()  # raises AttributeError, so there is none
