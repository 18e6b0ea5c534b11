"""A joint Gaussian of the columns, fitted by EM to the observed cells, with posterior variances."""

from cellworth.complete.gaussian.gaussian_completer import GaussianCompleter

__all__ = ["GaussianCompleter"]
