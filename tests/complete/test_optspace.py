import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.optspace import (
    Incoherence,
    OptSpaceCompleter,
    at,
    best_core,
    descend,
    estimate_rank,
    spectral_start,
    trim,
)
from cellworth.datasets import load
from studies.protocol import make_trial, reconstruction_error
from tests.complete.low_rank_cases import (
    check_everyday_use,
    check_refuses,
    error_in_holes,
    exactly_low_rank,
    noisy_table,
    rank_five,
    rank_oracle,
    tiny_tables,
)


def solve(values, observed, rank, tol, max_iter=5000):
    X, Y = spectral_start(trim(values, observed), rank)
    return descend(values, observed, X, Y, tol=tol, max_iter=max_iter)


def orthonormal(rng, n, r):
    return np.linalg.qr(rng.normal(size=(n, r)))[0]


def test_everyday_use():
    check_everyday_use(OptSpaceCompleter(rank=2))
    check_refuses(
        OptSpaceCompleter, rank="guess", ridge=-1.0, tol=np.nan, max_iter=0, scale="x", dtype=np.int64
    )
    check_refuses(OptSpaceCompleter, rank=0)


@pytest.mark.parametrize("seed", [0, 1])
def test_recovers_a_table_of_rank_five(seed):
    noisy, clean, holed = rank_five(seed)
    completer = OptSpaceCompleter()
    completed = completer.fit_transform(holed)
    # Seeds 0 to 9 gave 0.066 to 0.089 against the noisy table and 0.053 to 0.076 against the clean
    # one; the authors' program gave 0.354.
    assert error_in_holes(completed, noisy, holed) <= 0.12
    assert error_in_holes(completed, clean, holed) <= 0.11


def test_paper_table_is_filled_no_worse_than_in_the_paper(paper_folder):
    trial = make_trial(load("chess", paper_folder), 0.6, 0)
    # The paper's OptSpace has 1.57, because it takes a 0 for a hole; ours 0.42 and 0.44 on two seeds.
    assert reconstruction_error(OptSpaceCompleter().fit_transform(trial.holed), trial.truth) < 0.48


def test_an_observed_zero_is_a_value():
    """Rows are alike in all columns, the last is (0, 0, 0, 1, ?): its mean is 1/4, or 1 if a 0 is a hole."""
    X = np.repeat(np.random.default_rng(0).uniform(1, 3, size=(60, 1)), 5, axis=1)
    X[-1] = [0, 0, 0, 1, np.nan]
    completer = OptSpaceCompleter(rank=1, scale=None, ridge=0.0)
    assert completer.fit_transform(X)[-1, -1] == pytest.approx(0.25, abs=0.02)
    blind = completer.fit_transform(np.where(X == 0, np.nan, X))
    assert blind[-1, -1] == pytest.approx(1.0, abs=0.02)


def test_a_zero_counts_as_a_cell_when_rows_are_trimmed_and_cores_solved():
    values, observed = np.zeros((6, 4)), np.zeros((6, 4), dtype=bool)
    observed[:, 0] = observed[0] = True  # column 0 is full, of zeros
    values[0, 1:] = 1.0
    assert (trim(values, observed)[0] == 0).all()  # 4 cells, more than twice the mean of 9 / 6
    X, Y = np.eye(6)[:, :1], np.full((4, 1), 0.5)
    # Of row 0 the core must fit (0, 1, 1, 1) with one number: 0.75 / 0.5, not 1 / 0.5.
    assert best_core(values, observed, X, Y)[0, 0] == pytest.approx(1.5)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), rank=st.integers(1, 3))
def test_recovers_exactly_where_there_is_no_noise(seed, rank):
    truth, observed = exactly_low_rank(seed, rank)
    fit = solve(truth * observed, observed, rank, tol=1e-9)
    assert np.linalg.norm(fit.left @ fit.right - truth) <= 1e-3 * np.linalg.norm(truth)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rank", [1, 2])
def test_objective_is_not_above_the_best_of_many_starts(seed, rank):
    values, observed = noisy_table(seed)
    fit = solve(values, observed, rank, tol=1e-7)
    assert fit.objective[-1] <= 1.0001 * rank_oracle(values, observed, rank) + 1e-9


@settings(max_examples=40)
@given(table=tiny_tables(), rank=st.integers(1, 2))
def test_the_objective_never_rises(table, rank):
    values, observed = table
    objective = np.array(solve(values, observed, rank, tol=0.0, max_iter=30).objective)
    assert (np.diff(objective) <= 0).all()


@settings(max_examples=60)
@given(table=tiny_tables(), seed=st.integers(0, 1000), rank=st.integers(1, 2))
def test_the_core_is_the_least_squares_solution(table, seed, rank):
    values, observed = table
    rng = np.random.default_rng(seed)
    X, Y = orthonormal(rng, len(values), rank), orthonormal(rng, values.shape[1], rank)
    design = np.kron(X, Y)[observed.ravel()]  # one row per observed cell
    oracle = np.linalg.lstsq(design, values[observed], rcond=1e-7)[0]
    core = best_core(values, observed, X, Y)
    residuals = [np.linalg.norm(design @ c.ravel() - values[observed]) for c in (core, oracle)]
    assert residuals[0] == pytest.approx(residuals[1], rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_gradients_agree_with_finite_differences(seed):
    rng = np.random.default_rng(seed)
    values, observed = noisy_table(seed % 100)
    X, Y = orthonormal(rng, 12, 2), orthonormal(rng, 6, 2)
    dX, dY = rng.normal(size=X.shape), rng.normal(size=Y.shape)
    here, h = at(values, observed, X, Y), 1e-5

    def moved(step):
        new_X, _ = np.linalg.qr(X + step * dX)
        new_Y, _ = np.linalg.qr(Y + step * dY)
        return at(values, observed, new_X, new_Y).value

    slope = -np.vdot(here.R @ Y @ here.S.T, dX) - np.vdot(here.R.T @ X @ here.S, dY)
    scale = np.linalg.norm(values) ** 2
    assert (moved(h) - moved(-h)) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-6 * scale)


def test_trimming_leaves_out_what_is_observed_too_often():
    observed = np.zeros((10, 8), dtype=bool)
    observed[np.arange(10), np.arange(10) % 8] = True
    observed[4] = True
    trimmed = trim(np.ones((10, 8)), observed)
    assert (trimmed[4] == 0).all()
    assert (trimmed[[0, 1, 2, 3, 5]] == 1).all()


def test_the_spectrum_tells_a_clear_rank():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40)) + 0.01 * rng.normal(size=(300, 40))
    sigma = np.linalg.svd(table, compute_uv=False)
    assert estimate_rank(sigma, table.size, table.shape) == 3
    assert estimate_rank(np.zeros(4), 10, (5, 4)) == 1
    assert OptSpaceCompleter(rank="spectrum", scale=None).fit(table).rank_ == 3


def test_the_gradient_of_the_incoherence_term_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    X = orthonormal(rng, 9, 2)
    term = Incoherence(0.7, 0.3)
    value, gradient = term.of(X)
    assert value > 0
    for i, j in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[i, j] = 1e-6
        slope = (term.of(X + step)[0] - term.of(X - step)[0]) / 2e-6
        assert gradient[i, j] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_the_incoherence_term_shortens_a_row_that_carries_a_component_alone():
    rng = np.random.default_rng(1)
    table = np.outer(rng.choice([-1.0, 1.0], 40), rng.choice([-1.0, 1.0], 8))
    table[3] *= 30
    observed = rng.random(table.shape) < 0.7
    lengths = []
    for term in (Incoherence(), Incoherence(1000.0, 1.0)):
        X, Y = spectral_start(np.where(observed, table, 0), 1)
        fit = descend(np.where(observed, table, 0), observed, X, Y, tol=1e-8, max_iter=500, term=term)
        assert (np.diff(fit.objective) <= 0).all()
        share = fit.left**2 / np.sum(fit.left**2)
        lengths.append(float(share.max()))
    assert lengths[0] > 0.9
    assert 40 * lengths[1] / 3 < 3 < 40 * lengths[0] / 3  # z of the longest row: G(3) is 54


def test_senseless_incoherence_is_refused():
    check_refuses(OptSpaceCompleter, incoherence=-1.0, incoherence_limit=0.0)
