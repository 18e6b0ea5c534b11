"""The compiled step against the plain one in NumPy, which has tests of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import SupervisedCompleter
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.solver import fused_step
from cellworth.complete.solver import step as plain
from cellworth.complete.solver.fused_step import land, land_at_once, start, start_near, step
from cellworth.complete.solver.losses import SquaredLoss
from cellworth.complete.solver.step import NearRows, Rows, StepSums, sample_size

from .problems import LOSSES, make_rows, random_model, solve

pytestmark = pytest.mark.usefixtures("compiled")


def in_numpy(function, *arguments):
    """Call a function of `fused_step` without the kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused_step, "kernels", lambda: None)
        return function(*arguments)


@st.composite
def runs(draw):
    """Draw rows, models and a block size: several blocks, the last one shorter, labels up to any row."""
    loss, n_outputs = draw(st.sampled_from(LOSSES))
    d = draw(st.sampled_from([1, 2, 7, 20, 49]))
    n = draw(st.integers(d, 700))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = make_rows(n, d, loss, n_outputs, rng, labelled=draw(st.sampled_from([0.0, 0.3, 1.0])))
    models = [random_model(loss, d, n_outputs, 0.1, rng) for _ in range(2)]
    return rows, models, draw(st.one_of(st.none(), st.integers(70, 700))), rng


def assert_same(got, expected, *, atol):
    for name, a, b in zip(got._fields, got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=atol, err_msg=name)


@given(run=runs())
@settings(max_examples=60, deadline=None)
def test_the_compiled_passes_are_those_in_numpy(run):
    rows, (model, ahead), size, rng = run
    n, d = rows.values.shape
    X, A = rng.normal(size=(2, n, d))
    P = rng.normal(size=(d, d)) / d
    P = P + P.T
    trail = rng.normal(size=(n, d))[: sample_size(n) if size is None else n]
    results = []
    for call in (in_numpy, lambda function, *arguments: function(*arguments)):
        iterate, point, moved, first = X.copy(), A.copy(), trail.copy(), np.empty_like(X)
        begun = call(start, X, first, 1.3, rows, model, size)
        landed = A.copy()
        ended = call(land, X, landed, P, rows, model, size)
        sums = call(step, iterate, point, moved, P, 0.4, 1.7, rows, model, ahead, size)
        results.append(((begun, ended, sums), (first, landed, iterate, point, moved)))
    (plain_sums, plain_arrays), (sums, arrays) = results
    # Rounding: sums of n d products of numbers of size 1 to 10.
    for got, expected in zip(sums, plain_sums, strict=True):
        assert_same(got, expected, atol=1e-9)
    for got, expected in zip(arrays, plain_arrays, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-11)


@given(run=runs(), steps=st.integers(0, 3), rank=st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_rows_formed_on_the_way_are_those_in_numpy(run, steps, rank):
    rows, (model, _), size, rng = run
    n, d = rows.values.shape
    P = rng.normal(size=(d, d)) / d
    changed = np.flatnonzero(rng.random(n) < 0.1)
    factors = rng.normal(size=(n, rank)), rng.normal(size=(rank, d)) / rank
    near = NearRows(*factors, changed, rng.normal(size=(len(changed), d)), (P + P.T) / 2, steps, 3.0)
    results = []
    for call in (in_numpy, lambda function, *arguments: function(*arguments)):
        X, A = np.full((2, n, d), np.nan)
        *sums, pull = call(start_near, X, A, near, 1.3, rows, model, size)
        results.append((StepSums(*sums), pull, X, A))
    (plain_sums, plain_pull, *plain_arrays), (sums, pull, *arrays) = results
    # Rounding, as in the test above; three steps multiply errors by less than 3^3.
    assert_same(sums, plain_sums, atol=1e-8)
    assert pull == pytest.approx(plain_pull, rel=1e-10, abs=1e-8)
    for got, expected in zip(arrays, plain_arrays, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-10)
    cut = n // 2
    halves = near[0:cut], near[cut:n]
    for part, b in zip(halves, (slice(0, cut), slice(cut, n)), strict=True):
        if b.stop > b.start:
            X = np.empty((b.stop - b.start, d))
            m = len(rows.targets)
            of_part = Rows(
                rows.values[b], rows.observed[b], rows.targets[min(b.start, m) : b.stop], wide=False
            )
            plain.form(X, part, 1.3, of_part, model)
            np.testing.assert_allclose(X, plain_arrays[0][b], atol=1e-10)


@given(run=runs(), steps=st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_points_that_are_formed_again_are_those_that_would_be_kept(run, steps):
    rows, (model, ahead), size, rng = run
    n, d = rows.values.shape
    P, shape = (each + each.T for each in rng.normal(size=(2, d, d)) / (2 * d))
    near = NearRows(rng.normal(size=(n, d)), None, np.arange(0), np.empty((0, d)), shape, steps, 3.0)
    kept, point, again = np.empty((3, n, d))
    *begun, pull = start_near(kept, point, near, 1.3, rows, ahead, size)
    ended = land(kept, point, P, rows, model, size)
    for call in (in_numpy, lambda function, *arguments: function(*arguments)):
        *sums, pull_again = call(start_near, again, None, near, 1.3, rows, ahead, size)
        assert_same(StepSums(*sums), StepSums(*begun), atol=1e-8)
        assert pull_again == pytest.approx(pull, rel=1e-10, abs=1e-8)
        np.testing.assert_allclose(again, kept, atol=1e-10)
        assert_same(call(land_at_once, again, P, 1.3, rows, model, ahead, size), ended, atol=1e-8)
        np.testing.assert_allclose(again, point, atol=1e-10)


def test_single_precision_is_as_close_as_it_can_be():
    rng = np.random.default_rng(0)
    rows = make_rows(500, 20, SquaredLoss(), 1, rng)
    single = Rows(rows.values.astype("f4"), rows.observed, rows.targets.astype("f4"), wide=False)
    model = random_model(SquaredLoss(), 20, 1, 0.1, rng)
    X = rng.normal(size=(500, 20))
    exact = start(X, np.empty_like(X), 1.3, rows, model)
    rounded = start(X.astype("f4"), np.empty(X.shape, "f4"), 1.3, single, model)
    # Entries of size 20 to 500 from 500 products, each with 24 bits.
    assert_same(rounded, exact, atol=500 * 2.0**-24 * 20)


def completed(X, y, **settings):
    return SupervisedCompleter(tol=1e-7, **settings).fit(X, y)


def test_a_fit_is_the_same_with_and_without_the_kernels():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 12))
    y = X[:, 0] > 0
    X[rng.random(X.shape) < 0.4] = np.nan
    fast = completed(X, y, loss="logistic")
    plain = in_numpy(lambda: completed(X, y, loss="logistic"))
    assert fast.n_iter_ == plain.n_iter_
    np.testing.assert_allclose(fast.completed_, plain.completed_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.coef_, plain.coef_, rtol=0, atol=1e-10)


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(2)
    rows = make_rows(20_000, 8, SquaredLoss(), 1, rng)
    model = random_model(SquaredLoss(), 8, 1, 1e-4, rng)
    found = []
    for n_jobs in (1, 3):
        with ThreadEngine(n_jobs) as engine:
            found.append(solve(rows, model, 1.0, engine=engine, tol=1e-3).iterate)
    assert (found[0] == found[1]).all()
