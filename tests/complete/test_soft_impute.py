import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.soft_impute import SoftImputeCompleter, soft_als
from cellworth.datasets import load
from studies.protocol import make_trial, reconstruction_error
from tests.complete.low_rank_cases import (
    check_everyday_use,
    check_refuses,
    error_in_holes,
    rank_five,
    rank_oracle,
    threshold_by_svd,
    tiny_tables,
    trace_objective,
)


def test_everyday_use():
    check_everyday_use(SoftImputeCompleter())
    check_refuses(
        SoftImputeCompleter,
        trace_penalty=np.inf,
        penalty_unit="percent",
        rank=True,
        tol=-1.0,
        max_iter=0,
        scale="x",
        dtype=int,
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_recovers_a_table_of_rank_five(seed):
    noisy, clean, holed = rank_five(seed)
    completed = SoftImputeCompleter().fit_transform(holed)
    # Seeds 0 to 9 gave 0.068 to 0.097 against the noisy table and 0.055 to 0.086 against the clean
    # one; the authors' program gave 0.154.
    assert error_in_holes(completed, noisy, holed) <= 0.11
    assert error_in_holes(completed, clean, holed) <= 0.10


def test_paper_table_is_filled_well(paper_folder):
    trial = make_trial(load("abalone", paper_folder), 0.6, 0)
    # 0.090 and 0.086 on two seeds.
    assert reconstruction_error(SoftImputeCompleter().fit_transform(trial.holed), trial.truth) < 0.12


@pytest.mark.slow
@settings(max_examples=30)
@given(table=tiny_tables(), relative=st.sampled_from([0.5, 0.1]))
def test_a_solution_is_a_fixed_point_of_thresholding(table, relative):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2)
    fit = soft_als(values, observed, penalty, min(values.shape), tol=1e-10, max_iter=50_000)
    X = fit.left @ fit.right
    again = threshold_by_svd(X - (X - values) * observed, penalty)
    # A component whose singular value is at the threshold fades like 1 / k, so X is exact to about the
    # root of the rule to stop.
    assert np.linalg.norm(again - X) <= 1e-4 * np.linalg.norm(values)


@settings(max_examples=60)
@given(table=tiny_tables(), rank=st.integers(1, 4), relative=st.sampled_from([0.5, 0.05, 0.0]))
def test_the_objective_never_rises_at_any_rank(table, rank, relative):
    values, observed = table
    rank = min(rank, *values.shape)
    penalty = relative * np.linalg.norm(values, 2)
    start = soft_als(values, observed, penalty + 0.1, rank, tol=1e-2, max_iter=10)
    for first in (None, start):
        fit = soft_als(values, observed, penalty, rank, first, tol=0.0, max_iter=100)
        assert len(fit.right) <= rank
        assert (np.diff(fit.objective) <= 0).all()
        ours = trace_objective(fit.left @ fit.right, values, observed, penalty)
        assert ours <= fit.objective[-1] * (1 + 1e-8) + 1e-12


def test_the_factors_are_balanced():
    _, _, holed = rank_five(2)
    left, right = SoftImputeCompleter(trace_penalty=5.0).fit(holed[:300]).low_rank_
    np.testing.assert_allclose(left.T @ left, right @ right.T, atol=1e-8 * np.linalg.norm(right) ** 2)


def test_two_methods_find_the_same_table():
    _, _, holed = rank_five(1)
    settings = {"trace_penalty": 3.0, "tol": 1e-7, "max_iter": 10_000}
    soft = SoftImputeCompleter(**settings).fit(holed[:400])
    nnls = NNLSCompleter(truncate=False, **settings).fit(holed[:400])
    assert soft.rank_ == nnls.rank_
    np.testing.assert_allclose(soft.completed_, nnls.completed_, atol=1e-3)


def test_without_a_penalty_it_is_least_squares_of_the_rank():
    _, _, holed = rank_five(4)
    holed = holed[:25, :8]
    values, observed = np.nan_to_num(holed), ~np.isnan(holed)
    fit = soft_als(values, observed, 0.0, 1, tol=1e-8, max_iter=20_000)
    assert fit.objective[-1] == pytest.approx(rank_oracle(values, observed, 1), rel=1e-4)


def test_a_rank_is_a_limit():
    _, _, holed = rank_five(0)
    assert SoftImputeCompleter(rank=3).fit(holed[:300]).rank_ == 3
