"""Completion with a joint Gaussian of the columns, fitted by EM, with posterior variances."""

from cellworth.complete.gaussian.gaussian_completer import GaussianCompleter

__all__ = ["GaussianCompleter"]
