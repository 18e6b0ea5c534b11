"""Engines give what the estimators in memory give."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from tests.blocks.tables import COMPLETERS, SAME, difference, make_table, tables
from tests.conftest import first_quick

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit_both(X, y, completer, engine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        on_blocks = clone(completer).fit(open_blocks(X, target=y, engine=engine))
        return clone(completer).fit(X, y), on_blocks


def assert_same(whole, on_blocks, tolerance=SAME):
    completed, variance = on_blocks.completed_.gather()
    assert completed.dtype == whole.completed_.dtype
    assert difference(completed, whole.completed_) < tolerance
    assert on_blocks.n_iter_ == whole.n_iter_
    assert on_blocks.converged_ == whole.converged_
    assert difference(on_blocks.objective_, whole.objective_) < tolerance
    if isinstance(whole, GaussianCompleter):
        assert difference(variance, whole.variance_) < tolerance
        assert difference(on_blocks.covariance_, whole.covariance_) < tolerance
        assert on_blocks.label_trust_ == whole.label_trust_
    else:
        assert variance is None
        assert difference(on_blocks.coef_, whole.coef_) < 10 * tolerance
        assert on_blocks.rank_ == whole.rank_
        assert difference(on_blocks.low_rank_[1] ** 2, whole.low_rank_[1] ** 2) < 10 * tolerance


@pytest.mark.parametrize("completer", first_quick(COMPLETERS))
@given(table=tables())
@settings(max_examples=15)
def test_local_blocks_give_what_the_estimator_gives(completer, table):
    X, y, block_rows = table
    with ThreadEngine(n_jobs=1, block_rows=block_rows) as engine:
        whole, on_blocks = fit_both(X, y, completer, engine)
        assert_same(whole, on_blocks)


@pytest.mark.parametrize("completer", COMPLETERS, ids=str)
def test_a_cluster_gives_what_the_estimator_gives(completer, dask):
    X, y = make_table(700, 6, 0, labelled=0.5)
    dask.block_rows = 250
    whole, on_blocks = fit_both(X, y, clone(completer).set_params(max_iter=10), dask)
    assert_same(whole, on_blocks)
    new = make_table(20, 6, 1)[0]
    assert difference(on_blocks.transform(new), whole.transform(new)) < SAME


@pytest.mark.parametrize("completer", [COMPLETERS[0], COMPLETERS[3]], ids=str)
def test_many_rows_are_sampled_as_in_memory(completer, local):
    """Blocks that do not line up with the solver's, in a table long enough for many of them."""
    X, y = make_table(9000, 4, 3, labelled=0.4)
    local.block_rows = 1111
    assert_same(*fit_both(X, y, completer, local))


def test_threads_workers_and_blocks_change_nothing_that_matters(dask):
    X, y = make_table(2000, 5, 2, labelled=0.8)
    for completer in (SupervisedCompleter(max_iter=12), COMPLETERS[4]):
        results = []
        for threads, rows in ((1, 2000), (1, 500), (2, 500), (2, 37)):
            with ThreadEngine(n_jobs=threads, block_rows=rows) as engine:
                results.append(
                    clone(completer).fit(open_blocks(X, target=y, engine=engine)).completed_.gather()[0]
                )
        dask.block_rows = 500
        results.append(clone(completer).fit(open_blocks(X, target=y, engine=dask)).completed_.gather()[0])
        assert all(difference(result, results[0]) < 1e-10 for result in results)
        # The same blocks give the same bits, on threads and on workers.
        assert (results[1] == results[2]).all()
        assert (results[1] == results[4]).all()


def test_an_engine_that_was_not_opened_does_the_same():
    X, y = make_table(300, 3, 4)
    engine = ThreadEngine(n_jobs=2, block_rows=70)
    outside = clone(COMPLETERS[0]).fit(open_blocks(X, target=y, engine=engine)).completed_.gather()[0]
    with engine:
        inside = clone(COMPLETERS[0]).fit(open_blocks(X, target=y, engine=engine)).completed_.gather()[0]
    assert (outside == inside).all()


def test_choices_are_those_of_the_estimator_on_a_short_table_and_the_same_on_every_engine(local, dask):
    X, y = make_table(600, 4, 5)
    X[:, 1] = np.exp(2 * X[:, 1])
    local.block_rows = dask.block_rows = 140
    whole, on_blocks = fit_both(X, y, GaussianCompleter(), local)
    assert_same(whole, on_blocks)
    assert on_blocks.margins_ == whole.margins_
    X, y = make_table(5000, 4, 6)
    chosen = [GaussianCompleter().fit(open_blocks(X, target=y, engine=e)) for e in (local, dask)]
    assert chosen[0].label_trust_ == chosen[1].label_trust_
    assert difference(chosen[0].covariance_, chosen[1].covariance_) < SAME


@pytest.mark.parametrize("kind", ["text", "three", "number", "whole"])
@pytest.mark.parametrize(
    "completer", [SupervisedCompleter(), GaussianCompleter(margins="normal", label_trust=0.5)]
)
def test_labels_of_all_kinds(kind, completer, local):
    X, y = make_table(200, 3, 7)
    rng = np.random.default_rng(0)
    labels = {
        "text": np.where(y > 0, "yes", "no").astype(object),
        "three": rng.integers(0, 3, 200),
        "number": np.where(np.isnan(X[:, 0]), np.nan, 5 + X[:, 0]),
        "whole": rng.integers(0, 40, 200).astype(float),
    }[kind]
    if kind == "text":
        labels[5:9] = None
    local.block_rows = 33
    whole, on_blocks = fit_both(X, labels, completer, local)
    assert_same(whole, on_blocks)
    if isinstance(completer, SupervisedCompleter):
        assert np.array_equal(on_blocks.classes_, whole.classes_)


def test_single_precision_stays_single(local):
    X, y = make_table(900, 5, 8, dtype=np.float32)
    local.block_rows = 200
    for completer in (COMPLETERS[0], COMPLETERS[3]):
        whole, on_blocks = fit_both(X, y, completer, local)
        completed, _ = on_blocks.completed_.gather()
        assert completed.dtype == np.float32
        # Iterations end where the precision does, not at the same step: the tolerance of the fit is 1e-5.
        assert difference(completed, whole.completed_) < 1e-3


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_a_later_round_starts_from_the_earlier_model(seed):
    X, y = make_table(300, 4, seed)
    completer = GaussianCompleter(margins="normal", label_trust=0, warm_start=True)
    with ThreadEngine(n_jobs=1, block_rows=70) as engine:
        on_blocks = clone(completer).fit(open_blocks(X, target=y, engine=engine))
        answers = np.isnan(X) & (np.random.default_rng(seed).random(X.shape) < 0.05)
        whole = clone(completer).fit(X, y)
        X[answers] = 0.1
        on_blocks.fit(open_blocks(X, target=y, engine=engine))
        assert_same(whole.fit(X, y), on_blocks)


@pytest.mark.parametrize(
    "completer", [GaussianCompleter(margins="normal"), SupervisedCompleter(max_iter=5, tol=0)], ids=str
)
def test_some_rows(completer):
    """Rows that are completed alone, or with what is kept of their blocks."""
    X, y = make_table(90, 4, 0)
    with ThreadEngine(1, 20) as engine:
        done = completer.fit(open_blocks(X, target=y, engine=engine)).completed_
        numbers = np.array([3, 19, 20, 77])
        some, (whole, variance) = done.rows(numbers), done.gather()
        assert len(done.rows(numbers[:0]).completed) == 0
    np.testing.assert_allclose(some.completed, whole[numbers], rtol=1e-12)
    np.testing.assert_array_equal(some.part.X, X[numbers])
    np.testing.assert_array_equal(some.part.y, y[numbers])
    assert (some.variance is None) == (variance is None)
    if variance is not None:
        np.testing.assert_allclose(some.variance, variance[numbers], rtol=1e-12, atol=1e-15)
