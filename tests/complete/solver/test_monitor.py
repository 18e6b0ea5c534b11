"""The record of the iterations, and when they end."""

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.as_published import minimise_by_search
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.passes_in_memory import InPlacePasses
from cellworth.complete.solver.proximal_gradient import Descent, descend, minimise

from .problems import blank, make_rows, objective, problems, solve

BOTH = pytest.mark.parametrize("method", [minimise, minimise_by_search])


@pytest.mark.slow
@BOTH
@given(problem=problems(max_rows=20))
@settings(max_examples=40)
def test_the_record_never_rises_and_ends_at_the_result(problem, method):
    rows, model, penalty, rng = problem
    first = rng.normal(size=rows.values.shape)
    begin = objective(first, rows, model, penalty)
    for options in ({"tol": 1e-6, "max_iter": 1000}, {"tol": 0, "max_iter": 1}, {"tol": 0, "max_iter": 7}):
        done = solve(rows, model, penalty, method, first=first, **options)
        assert done.n_iter <= options["max_iter"]
        record = np.array(done.objective)
        assert (np.diff(record) <= 0).all()
        assert record[0] <= begin * (1 + 1e-12) + 1e-12
        end = objective(done.iterate, rows, done.model, penalty)
        assert record[-1] == pytest.approx(end, rel=1e-7, abs=1e-9)
        sigma = np.linalg.svd(done.iterate, compute_uv=False)
        np.testing.assert_allclose(done.singular_values, sigma[: len(done.singular_values)], atol=1e-6)


def test_the_callback_sees_each_iteration_and_can_stop():
    rng = np.random.default_rng(4)
    rows = make_rows(80, 7, SquaredLoss(), 1, rng)
    model = blank(SquaredLoss(), 7, 1, 0.01)
    seen = []
    full = solve(rows, model, 0.1, callback=seen.append)
    assert [p.iteration for p in seen] == list(range(1, full.n_iter + 1))
    assert seen[-1].stationarity <= seen[-1].tol
    stopped = solve(rows, model, 0.1, callback=lambda p: p.iteration == 5)
    assert (stopped.n_iter, stopped.stopped, stopped.converged) == (5, True, False)


def test_a_descent_resumed_after_its_last_iteration_has_the_same_record():
    rng = np.random.default_rng(5)
    rows = make_rows(60, 6, SquaredLoss(), 1, rng)
    X = np.zeros_like(rows.values)
    passes = InPlacePasses(X, rows, RowBlocks(X.shape, 8, None))
    begun = Descent.begin(
        passes, blank(SquaredLoss(), 6, 1, 0.01), trace_penalty=0.1, trace_norm=0.0, tol=0, max_iter=3
    )
    done = descend(passes, begun, 0.1)
    again = descend(passes, Descent.from_arrays(begun.to_arrays(), None), 0.1)
    assert (again.n_iter, again.objective) == (done.n_iter, done.objective)
