"""A start from some of the rows: the hidden cells it implies, and where the iterations get to from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.blocks.thread_engine import RowBlocks, ThreadEngine
from cellworth.complete import SupervisedCompleter
from cellworth.complete.solver import sampled_start
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.proximal_gradient import minimise_from_means
from cellworth.complete.solver.sampled_start import (
    EVERY,
    LEAST_CELLS,
    LEAST_CELLS_FOR_PAIRS,
    LEAST_ROWS,
    MOST_CELLS,
    fill_given_shape,
    first_fit,
    fit_to_sample,
    pairs_pay,
    plain_solution,
    sampling_pays,
    shape_from_pairs,
    solve_in_holes,
    stride,
)
from cellworth.complete.solver.singular_value_thresholding import spectrum
from cellworth.complete.solver.step import Rows
from cellworth.complete.solver.warm_start import column_means
from tests.complete.low_rank_cases import threshold_by_svd

from .problems import LOSSES, blank, make_rows, objective, random_model

LARGE = 25_000, 8  # as many cells as a sample pays for
MEDIUM = 2_500, 8  # too few for a sample, enough for pairs of columns
TIGHT = {"tol": 1e-8, "max_iter": 5_000}


def sampled(rows, model, penalty, engine=None):
    """Return the start of a fit: the filled table (n, d) and the model."""
    part = Rows(rows.values[::EVERY], rows.observed[::EVERY], rows.targets[::EVERY], rows.wide)
    found = fit_to_sample(part.in_single_precision(), EVERY, model, penalty, engine)
    filled = np.empty(rows.values.shape, np.float32)
    fill_given_shape(filled, rows, found.shape, penalty, engine)
    return filled, found.model


def expected_cells(values, observed, shape, penalty):
    """Return each row with its hidden cells by the ridge regression of the module's docstring, one by one."""
    M = (shape.basis * shape.singular_values) @ shape.basis.T
    filled = values.copy()
    for row, seen in zip(filled, observed, strict=True):
        system = M[np.ix_(seen, seen)] + penalty * np.eye(seen.sum())
        row[~seen] = M[np.ix_(~seen, seen)] @ np.linalg.solve(system, row[seen])
    return filled


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_hidden_cells_are_those_that_the_shape_and_the_observed_ones_imply(share):
    rng = np.random.default_rng(1)
    rows = make_rows(300, 9, SquaredLoss(), 1, rng, observed=share)
    shape = spectrum(rng.normal(size=(40, 4)) @ rng.normal(size=(4, 9)))
    filled = np.full((300, 9), np.nan)
    fill_given_shape(filled, rows, shape, 0.7, None, steps=30)
    expected = expected_cells(rows.values, rows.observed, shape, 0.7)
    # Single precision, and systems with condition numbers up to some hundreds.
    np.testing.assert_allclose(filled, expected, atol=1e-3 * np.abs(expected).max() + 1e-12)


@pytest.mark.usefixtures("compiled")
@given(
    d=st.sampled_from([1, 2, 7, 8, 20, 49]),
    n=st.integers(1, 900),
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_the_compiled_solution_is_that_in_numpy(d, n, seed, steps):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2 * d, d))
    product = (A.T @ A / d + np.eye(d)).astype(np.float32)
    observed = rng.random((n, d)) < rng.random()
    known = np.where(observed, rng.normal(size=(n, d)), 0).astype(np.float32)
    filled = known.copy()
    solve_in_holes(product, filled, observed, steps)
    assert np.array_equal(filled[observed], known[observed])
    # In double precision the steps are the same ones, without their rounding; it grows from step to step.
    exact = known + plain_solution(product.astype(float), known.astype(float), observed, steps)
    np.testing.assert_allclose(filled, exact, atol=1e-4 * np.abs(exact).max())


def largest_distance(rows, solution, penalty):
    """Return how far two tables (n, d) may be apart, in Frobenius norm, that have converged to `TIGHT`.

    The last step has a gradient mapping G of at most tol times the norm of the data, so its result has a
    subgradient of at most 2 |G|. The trace norm is least curved, by lambda / sigma_1, where a row with few
    cells moves along the largest singular vector; so each table is within 2 |G| sigma_1 / lambda.
    """
    subgradient = 2 * TIGHT["tol"] * np.linalg.norm(rows.values)
    return 2 * subgradient * solution.singular_values[0] / penalty


def iterations_until(solution, objective):
    """Return how many iterations that lowered the objective it took to get it so low."""
    return next(i for i, value in enumerate(solution.objective) if value <= objective)


@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES)
def test_from_a_sample_the_iterations_get_to_the_same_solution(loss, n_outputs):
    rng = np.random.default_rng(3)
    n, d = LARGE
    rows = make_rows(n, d, loss, n_outputs, rng, labelled=0.7)
    model, penalty = random_model(loss, d, n_outputs, 1 / n, rng), 5.0
    sampled = first_fit(rows, model, penalty, None, **TIGHT)
    iterate, trace_norm = column_means(rows)
    blocks = RowBlocks(rows.values.shape, 8, None)
    plain = minimise_from_means(
        iterate, model, rows, trace_penalty=penalty, trace_norm=trace_norm, blocks=blocks, **TIGHT
    )
    assert sampled.converged
    assert plain.converged
    # A sample tells about the table. How many steps the model then takes to the last digits depends on where
    # its momentum restarts: with the multinomial loss 374 to 470 from a sample, by the rounding of seven
    # kinds of BLAS kernels, and 417 to 455 from the means. To within 1e-4 of the objective: 4 against 42.
    near = (1 + 1e-4) * plain.objective[-1]
    assert iterations_until(sampled, near) < iterations_until(plain, near)
    assert sampled.objective[-1] == pytest.approx(plain.objective[-1], rel=1e-10)
    assert sampled.objective[-1] == pytest.approx(
        objective(sampled.iterate, rows, sampled.model, penalty), rel=1e-9
    )
    assert np.linalg.norm(sampled.iterate - plain.iterate) < largest_distance(rows, plain, penalty)
    # A solution is a fixed point of the proximal step, by a full SVD.
    X, m = sampled.iterate, len(rows.targets)
    gradient = (X - rows.values) * rows.observed
    slopes = loss.gradient(X[:m] @ sampled.model.coef + sampled.model.intercept, rows.targets)
    gradient[:m] += sampled.model.weight * slopes @ sampled.model.coef.T
    U, s, V = np.linalg.svd(X - gradient, full_matrices=False)
    np.testing.assert_allclose((U * np.maximum(s - penalty, 0)) @ V, X, atol=1e-5)


def test_pairs_tell_the_shape_of_a_table_without_holes_exactly():
    rng = np.random.default_rng(7)
    rows = make_rows(400, 6, SquaredLoss(), 1, rng, observed=1.0)
    gram, together = rows.values.T @ rows.values, np.full((6, 6), 400)
    found = shape_from_pairs(gram, together, 400, 3.0)
    _, singular_values, rows_of_V = np.linalg.svd(rows.values, full_matrices=False)
    kept = singular_values > 3.0
    np.testing.assert_allclose(found.singular_values, singular_values[kept] - 3.0, rtol=1e-10)
    np.testing.assert_allclose(found.basis @ found.basis.T, rows_of_V[kept].T @ rows_of_V[kept], atol=1e-10)


@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES)
def test_from_pairs_the_iterations_get_to_the_same_solution(monkeypatch, loss, n_outputs):
    rng = np.random.default_rng(8)
    (n, d), penalty = MEDIUM, 3.0
    rows = make_rows(n, d, loss, n_outputs, rng, labelled=0.7)
    model = random_model(loss, d, n_outputs, 1 / n, rng)
    assert pairs_pay((n, d), len(rows.targets), float(np.linalg.norm(rows.values)), model, penalty)
    paired = first_fit(rows, model, penalty, None, **TIGHT)
    monkeypatch.setattr(sampled_start, "pairs_pay", lambda *_: False)
    plain = first_fit(rows, model, penalty, None, **TIGHT)
    assert paired.converged
    assert plain.converged
    assert paired.objective[0] < plain.objective[0]
    assert paired.objective[-1] == pytest.approx(plain.objective[-1], rel=1e-10)
    assert np.linalg.norm(paired.iterate - plain.iterate) < largest_distance(rows, plain, penalty)


def test_the_start_is_much_nearer_than_column_means():
    rng = np.random.default_rng(4)
    n, d = LARGE
    rows, model = make_rows(n, d, SquaredLoss(), 1, rng), blank(SquaredLoss(), d, 1, 1 / n)
    solved = first_fit(rows, model, 5.0, None, tol=1e-7, max_iter=1000)
    filled, near = sampled(rows, model, 5.0)

    def excess(table, model):
        shrunk = threshold_by_svd(table, 5.0)  # one proximal step: observed cells are those of the data
        return objective(shrunk, rows, model, 5.0) - solved.objective[-1]

    assert excess(filled.astype(float), near) < 0.05 * excess(column_means(rows)[0], solved.model)


def test_a_sample_pays_for_long_tables_only():
    def pays(n, d, penalty=1.0, label_weight=1.0):
        return sampling_pays((n, d), n, blank(SquaredLoss(), d, 1, label_weight / n), penalty)

    assert pays(*LARGE)
    assert not pays(LEAST_CELLS // 8 - 1, 8)
    assert not pays(1_000, 400)  # an eighth of these rows would not tell how the columns go together
    assert not pays(*LARGE, penalty=0.0)
    assert not pays(*LARGE, label_weight=1000.0)


@given(n=st.integers(1, 10**9), d=st.integers(1, 2000))
def test_a_sample_is_an_eighth_or_fits_in_memory_and_has_rows_enough(n, d):
    k = stride((n, d))
    assert k >= EVERY
    if k > EVERY:
        assert n // k >= LEAST_ROWS * d
        assert n // k * d >= MOST_CELLS - d
        assert n / k * d <= max(2 * MOST_CELLS, 2 * LEAST_ROWS * d * d)


def test_pairs_pay_for_tables_with_many_rows_and_a_penalty_that_is_not_weak():
    def pays(n, d, penalty=1.0, label_weight=1.0):
        return pairs_pay((n, d), n, 14.0, blank(SquaredLoss(), d, 1, label_weight / n), penalty)

    assert pays(*MEDIUM)
    assert not pays(LEAST_CELLS_FOR_PAIRS // 8 - 1, 8)
    assert not pays(300, 100)  # too few rows in which two columns are observed
    assert not pays(*MEDIUM, penalty=1e-3)
    assert not pays(*MEDIUM, penalty=0.0)
    assert not pays(*MEDIUM, label_weight=1000.0)


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(5)
    rows = make_rows(*LARGE, SquaredLoss(), 1, rng)
    model = blank(SquaredLoss(), LARGE[1], 1, 1 / LARGE[0])
    alone = sampled(rows, model, 5.0)
    with ThreadEngine(2) as engine:
        together = sampled(rows, model, 5.0, engine)
    assert np.array_equal(alone[0], together[0])
    assert np.array_equal(alone[1].coef, together[1].coef)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("single_start", [False, True])
def test_a_completer_gives_what_it_gives_without_a_sample(monkeypatch, dtype, single_start):
    rng = np.random.default_rng(6)
    X = (rng.normal(size=(LARGE[0], 3)) @ rng.normal(size=(3, LARGE[1]))).astype(dtype)
    y = np.where(rng.random(LARGE[0]) < 0.2, np.nan, X[:, 0] > 0)
    X[rng.random(X.shape) < 0.4] = np.nan

    def fitted():
        return SupervisedCompleter(tol=1e-6, single_start=single_start).fit(X, y)

    sampled = fitted()
    monkeypatch.setattr(sampled_start, "sampling_pays", lambda *_: False)
    plain = fitted()
    assert sampled.completed_.dtype == dtype
    assert sampled.n_iter_ < plain.n_iter_
    assert sampled.objective_[-1] == pytest.approx(
        plain.objective_[-1], rel=1e-5 if dtype == np.float32 else 1e-8
    )
    # Both are within the tolerance, which in single precision cannot be below 64 of its roundings, 8e-6.
    # Measured: 3.4e-4 and 1.4e-3 of the standard deviation, most of it in rows with few cells, which are
    # weakly determined.
    difference = sampled.completed_ - plain.completed_
    most = 3e-3 if dtype == np.float32 else 1e-3
    assert np.sqrt(np.mean(difference**2)) < most * plain.completed_.std()
