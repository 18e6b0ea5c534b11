"""Where a spectrum drops, and what is cut there."""

import numpy as np

from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.penalty_path import largest_drop
from tests.complete.low_rank_cases import rank_five


def test_a_given_penalty_is_cut_only_at_a_clear_drop():
    _, _, holed = rank_five(0)
    assert NNLSCompleter(trace_penalty=0.5, scale=None).fit(holed).rank_ == 5
    assert NNLSCompleter(trace_penalty=0.5, scale=None, truncate=False).fit(holed).rank_ > 5
    smooth = np.random.default_rng(0).normal(size=(100, 6))
    assert NNLSCompleter(trace_penalty=0.5, scale=None).fit(smooth).rank_ == 6


def test_largest_drop():
    assert largest_drop(np.array([4.0, 2.0, 0.5, 0.4])) == (2, 4.0)
    assert largest_drop(np.array([4.0])) == (1, 1.0)
    assert largest_drop(np.zeros(0)) == (0, 1.0)
