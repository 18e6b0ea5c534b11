"""Tables, oracles and checks that the tests of the low-rank completers share."""

import warnings

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.solver.factors import fold_in
from cellworth.errors import ParameterError
from cellworth.testing.completer_contract import random_table


def rank_five(seed):
    """Return X (2000, 20) = U V + noise, rank 5, without the noise, and with 40 % holes."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(size=(2000, 5)) @ rng.normal(size=(5, 20))
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    return noisy, clean, np.where(rng.random(clean.shape) < 0.6, noisy, np.nan)


def error_in_holes(completed, truth, holed):
    holes = np.isnan(holed)
    return np.linalg.norm((completed - truth)[holes]) / np.linalg.norm(truth[holes])


def exactly_low_rank(seed, rank):
    """Return values (40, 10) of that rank and which cells are observed: 80 %, enough in each row."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(40, rank)))
    V, _ = np.linalg.qr(rng.normal(size=(10, rank)))
    truth = U @ np.diag(rng.uniform(1, 2, size=rank)) @ V.T
    observed = rng.random(truth.shape) < 0.8
    short = observed.sum(axis=1) < rank + 2
    observed[short] = True
    return truth, observed


@st.composite
def tiny_tables(draw):
    """Draw values (n, d), 0 in the holes, and which cells are observed, at least one in each column."""
    n, d = draw(st.integers(2, 7)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    observed = rng.random((n, d)) < draw(st.sampled_from([0.3, 0.6, 0.9, 1.0]))
    observed[rng.integers(n, size=d), np.arange(d)] = True
    rank = draw(st.integers(1, 3))
    values = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.3 * rng.normal(size=(n, d))
    return values * observed, observed


def trace_objective(X, values, observed, penalty):
    trace_norm = np.linalg.svd(X, compute_uv=False).sum()
    return 0.5 * np.sum((X - values)[observed] ** 2) + penalty * trace_norm


def trace_oracle(values, observed, penalty):
    """Return the least objective, by a solver of semidefinite programs."""
    cp = pytest.importorskip("cvxpy")
    X = cp.Variable(values.shape)
    misfit = cp.multiply(observed.astype(float), X - values)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(misfit) + penalty * cp.normNuc(X)))
    problem.solve(solver="CLARABEL")
    return trace_objective(X.value, values, observed, penalty)


def threshold_by_svd(A, threshold):
    """Return the table nearest to A under a penalty on its trace norm, by a full SVD."""
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(sigma - threshold, 0)) @ Vt


def rank_oracle(values, observed, rank, starts=10, seed=0):
    """Return the least 1/2 ||R(UV - values)||^2 over factors of that rank, best of many random starts."""
    (n, d), rng = values.shape, np.random.default_rng(seed)

    def objective(point):
        U, V = point[: n * rank].reshape(n, rank), point[n * rank :].reshape(rank, d)
        R = (U @ V - values) * observed
        return 0.5 * np.sum(R**2), np.concatenate([(R @ V.T).ravel(), (U.T @ R).ravel()])

    first = rng.normal(size=(starts, (n + d) * rank))
    exact = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000}
    with worker_threads(1):  # threads of BLAS only get in each other's way on tables of this size
        return min(minimize(objective, x, jac=True, method="L-BFGS-B", options=exact).fun for x in first)


def noisy_table(seed, n=12, d=6, rank=2, observed=0.85):
    """Return a table of low rank with noise, its holes few enough that a best fit of that rank exists."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.1 * rng.normal(size=(n, d))
    mask = rng.random((n, d)) < observed
    mask[mask.sum(axis=1) <= rank] = True
    return values * mask, mask


def check_sensible_on_awkward_tables(completer):
    """No value lies farther outside the observed range than ten times its width."""
    rng = np.random.default_rng(5)
    X, _ = random_table(rng)
    constant, once, empty, twins = X.copy(), X.copy(), X.copy(), X.copy()
    constant[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 5.0)
    once[:, 1], once[3, 1] = np.nan, 1.5
    empty[7] = np.nan
    twins[:, 4] = 2 * twins[:, 0]
    wide, _ = random_table(rng, n=8, d=15)
    sparse, _ = random_table(rng, n=200, d=10, observed=0.02)
    for table in (constant, once, empty, twins, wide, sparse, np.nan_to_num(X)):
        fitted = clone(completer).fit(table)
        low, high = np.nanmin(table), np.nanmax(table)
        for filled in (fitted.completed_, fitted.transform(table)):
            assert np.isfinite(filled).all()
            assert filled.min() >= low - 10 * (high - low)
            assert filled.max() <= high + 10 * (high - low)


def check_everyday_use(completer):
    """Labels change nothing, a callback is told and can stop, too few iterations are warned about."""
    X, y = random_table(np.random.default_rng(3), n=100)
    quiet = clone(completer).fit(X)
    np.testing.assert_array_equal(clone(completer).fit(X, y).completed_, quiet.completed_)
    left, right = quiet.low_rank_
    assert left.shape == (100, quiet.rank_)
    assert right.shape == (quiet.rank_, 7)
    estimate = quiet.scaling_.undo_in_place(left @ right)
    np.testing.assert_allclose(quiet.completed_[np.isnan(X)], estimate[np.isnan(X)])

    told = []
    watching = clone(completer).set_params(callback=lambda p: told.append(p) or len(told) == 2, tol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        watching.fit(X)
    assert [p.iteration for p in told] == [1, 2]
    assert not watching.converged_

    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        hurried = clone(completer).set_params(max_iter=1, tol=1e-14).fit(X)
    assert hurried.n_iter_ == 1


def check_refuses(completer_class, **wrong):
    for name, value in wrong.items():
        with pytest.raises(ParameterError, match=name):
            completer_class(**{name: value}).fit(np.eye(3))


def fold_one_row(row, right, penalty):
    """Return a new row completed by ridge regression, the plain way."""
    seen = ~np.isnan(row)
    B = right[:, seen]
    a = np.linalg.solve(B @ B.T + penalty * np.eye(len(right)), B @ row[seen])
    np.testing.assert_allclose(
        fold_in(np.nan_to_num(row)[None], seen[None], right, penalty)[0], a @ right, rtol=1e-6
    )
    return np.where(seen, row, a @ right)
