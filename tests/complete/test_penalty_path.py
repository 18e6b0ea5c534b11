"""What the completers with a trace penalty reach, how they fill new rows, and where a spectrum is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.nnls import NNLSCompleter, minimise
from cellworth.complete.penalty_path import largest_drop
from cellworth.complete.soft_impute import SoftImputeCompleter, soft_als
from tests.complete.low_rank_cases import fold_one_row, rank_five, tiny_tables, trace_objective, trace_oracle


@pytest.mark.parametrize("solve", [minimise, soft_als])
@settings(max_examples=25)
@given(table=tiny_tables(), relative=st.sampled_from([0.5, 0.1, 0.02]))
def test_reaches_the_objective_of_a_semidefinite_program(solve, table, relative):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2)
    oracle = trace_oracle(values, observed, penalty)
    fit = solve(values, observed, penalty, min(values.shape), tol=1e-8, max_iter=20_000)
    assert fit.objective[-1] == pytest.approx(oracle, rel=1e-4)
    ours = trace_objective(fit.left @ fit.right, values, observed, penalty)
    assert ours == pytest.approx(fit.objective[-1], rel=1e-8)


@pytest.mark.parametrize("kind", [NNLSCompleter, SoftImputeCompleter])
def test_new_rows_are_ridge_regressions(kind):
    _, _, holed = rank_five(3)
    completer = kind(scale=None, trace_penalty=2.0).fit(holed[:300])
    row = fold_one_row(holed[500], completer.low_rank_[1], 2.0)
    np.testing.assert_allclose(completer.transform(holed[500:501])[0], row, rtol=1e-6)


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
