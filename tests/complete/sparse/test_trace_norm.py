import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cellworth.complete.soft_impute import soft_als
from cellworth.complete.sparse.trace_norm import certify, fit_trace_norm
from cellworth.complete.sparse.variable_projection import row_factors
from tests.complete.low_rank_cases import trace_objective, trace_oracle
from tests.complete.sparse.cases import block_of, table_from, tables


def fitted(values, observed, penalty, rank=None, tol=1e-12, max_iter=2000):
    """Return the fit, the whole estimate (n, d) and the certificate."""
    table, rng = table_from(values, observed), np.random.default_rng(0)
    rank = rank or min(values.shape)
    start = np.zeros((values.shape[1], 0))
    fit = fit_trace_norm(table, penalty, rank, start, rng, tol=tol, max_iter=max_iter)
    A = row_factors(block_of(values, observed), fit.B, penalty)
    return fit, A @ fit.B.T, certify(table, fit.B, penalty, rng)


def low_rank(seed, shape=(60, 40), share=0.4):
    rng = np.random.default_rng(seed)
    observed = rng.random(shape) < share
    values = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 0.3 * rng.normal(size=shape)
    return values * observed, observed


@pytest.mark.parametrize(("seed", "relative"), [(0, 0.5), (1, 0.2), (0, 0.05), (1, 0.01)])
def test_is_the_fit_of_the_dense_solver(seed, relative):
    values, observed = low_rank(seed)
    penalty = relative * np.linalg.norm(values, 2)
    dense = soft_als(values, observed, penalty, 40, tol=1e-9, max_iter=20_000)
    fit, Z, certificate = fitted(values, observed, penalty)
    assert certificate.objective == pytest.approx(dense.objective[-1], rel=1e-9)
    assert fit.B.shape[1] == len(dense.right)
    np.testing.assert_allclose(Z, dense.left @ dense.right, atol=1e-4 * np.abs(values).max())
    np.testing.assert_allclose(
        certificate.singular_values, np.linalg.svd(Z, compute_uv=False)[: len(dense.right)], rtol=1e-6
    )


@settings(max_examples=25)
@given(table=tables(most=6), relative=st.sampled_from([0.5, 0.1, 0.02]))
def test_reaches_the_objective_of_a_semidefinite_program(table, relative):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2) or 1.0
    oracle = trace_oracle(values, observed, penalty)
    _, Z, certificate = fitted(values, observed, penalty)
    assert certificate.objective == pytest.approx(oracle, rel=1e-5, abs=1e-7)
    ours = trace_objective(Z, values, observed, penalty)
    assert ours == pytest.approx(certificate.objective, rel=1e-7, abs=1e-12)


@settings(max_examples=50)
@given(table=tables(), relative=st.sampled_from([0.5, 0.1, 0.02]))
def test_what_is_left_has_no_singular_value_above_the_penalty(table, relative):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2) or 1.0
    fit, Z, certificate = fitted(values, observed, penalty)
    assert fit.converged
    R = (values - Z) * observed
    # A direction whose singular value is above the penalty by less than a thousandth is not added.
    assert np.linalg.norm(R, 2) <= penalty * (1 + 1.1e-3)
    assert 0 <= certificate.gap <= 1e-4 * certificate.objective


@settings(max_examples=40)
@given(table=tables(), rank=st.integers(1, 3), relative=st.sampled_from([0.3, 0.02]), steps=st.integers(1, 4))
def test_the_gap_bounds_the_distance_to_the_best(table, rank, relative, steps):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2) or 1.0
    rank = min(rank, *values.shape)
    _, _, rough = fitted(values, observed, penalty, rank=rank, tol=0.0, max_iter=steps)
    _, _, best = fitted(values, observed, penalty)
    # The norm in the gap is an estimate from below, good to 1e-4.
    assert rough.objective - rough.gap <= best.objective * (1 + 1e-3)


@pytest.mark.parametrize("rank", [1, 40])
def test_the_gap_is_that_of_the_dual_point(rank):
    values, observed = low_rank(6)
    penalty = 0.2 * np.linalg.norm(values, 2)
    _, Z, certificate = fitted(values, observed, penalty, rank=rank, tol=1e-3)
    R = (values - Z) * observed
    Y = R * min(1.0, penalty / np.linalg.norm(R, 2))
    gap = certificate.objective - np.sum(Y * values) + 0.5 * np.sum(Y**2)
    assert certificate.gap == pytest.approx(gap, rel=1e-2, abs=1e-4 * certificate.objective)
    assert gap > 1e-8 * certificate.objective  # so that the comparison says something


@settings(max_examples=40)
@given(table=tables(), rank=st.integers(1, 5), relative=st.sampled_from([0.5, 0.05, 0.001]))
def test_the_objective_never_rises_at_any_rank(table, rank, relative):
    values, observed = table
    penalty = relative * np.linalg.norm(values, 2) or 1.0
    fit, _, certificate = fitted(values, observed, penalty, rank=min(rank, *values.shape), max_iter=60)
    trace = np.array([*fit.objective, certificate.objective])
    assert fit.B.shape[1] <= rank
    assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all()


@pytest.mark.parametrize("rank", [1, 2])
def test_a_rank_that_binds_gives_the_best_of_many_starts(rank):
    values, observed = low_rank(3, shape=(14, 9), share=0.8)
    penalty, (n, d) = 0.3, values.shape

    def objective(point):
        A, B = point[: n * rank].reshape(n, rank), point[n * rank :].reshape(d, rank)
        R = (A @ B.T - values) * observed
        slope = np.concatenate([(R @ B + penalty * A).ravel(), (R.T @ A + penalty * B).ravel()])
        return 0.5 * np.sum(R**2) + penalty / 2 * np.sum(point**2), slope

    starts = np.random.default_rng(0).normal(size=(20, (n + d) * rank))
    best = min(minimize(objective, x, jac=True, options={"maxiter": 2000}).fun for x in starts)
    assert fitted(values, observed, penalty, rank=rank)[2].objective == pytest.approx(best, rel=1e-6)


def test_a_fit_from_a_fit_takes_no_step():
    values, observed = low_rank(4)
    fit, _, _ = fitted(values, observed, 2.0, tol=1e-10)
    table, rng = table_from(values, observed), np.random.default_rng(1)
    again = fit_trace_norm(table, 2.0, 40, fit.B, rng, tol=1e-8, max_iter=100)
    assert again.converged
    assert again.n_iter == 0
    np.testing.assert_allclose(again.B, fit.B, atol=1e-4 * np.abs(fit.B).max())


def test_a_penalty_above_the_largest_singular_value_leaves_nothing():
    values, observed = low_rank(5)
    fit, Z, certificate = fitted(values, observed, 1.01 * np.linalg.norm(values, 2))
    assert fit.B.shape == (40, 0)
    assert not Z.any()
    assert certificate.objective == pytest.approx(0.5 * np.sum(values**2))
    assert certificate.gap == pytest.approx(0.0, abs=1e-9)
