"""Tables and fits that several tests of the Gaussian share."""

import numpy as np
from hypothesis import strategies as st

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.gaussian.quick_fit import GaussianEstimator
from tests.complete.gaussian import textbook

ONE_TABLE = {
    "seed": st.integers(0, 2**16),
    "n": st.integers(2, 40),
    "d": st.integers(1, 7),
    "share": st.floats(0.1, 1),
}


def holed(seed=0, n=400, d=6, share=0.6):
    """Return a table of a known Gaussian, complete, and with holes."""
    X, observed, *_ = textbook.gaussian_table(np.random.default_rng(seed), n, d, share)
    return X, np.where(observed, X, np.nan)


def plain(**settings):
    """Return a completer of columns as they are, without calibration."""
    return GaussianCompleter(**{"margins": "normal", "calibrate": False, **settings})


def em_on(model, observed, X, shrinkage):
    """Return EM for a model of this kind on the observed cells."""
    return GaussianEstimator(None, shrinkage).em_on(model, X, observed)
