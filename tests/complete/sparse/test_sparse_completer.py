import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.soft_impute import SoftImputeCompleter
from cellworth.complete.sparse import SparseCompleter, variable_projection
from cellworth.errors import DataError
from cellworth.testing.completer_contract import check_fitted_state
from tests.complete.low_rank_cases import check_refuses
from tests.complete.scikit_learn import check_with_scikit_learn
from tests.complete.sparse.cases import rank_five, sparse_of, tables

EXACT = {"trace_penalty": 1.0, "rank": 12, "tol": 1e-12, "max_iter": 5000}


def everything(completer):
    n, d = completer.row_offsets_.size, completer.column_offsets_.size
    i, j = np.divmod(np.arange(n * d), d)
    return completer.estimate(i, j).reshape(n, d)


@pytest.mark.slow
def test_passes_every_check_of_scikit_learn():
    check_with_scikit_learn(SparseCompleter())


@pytest.mark.parametrize(
    "settings_of", [{}, {"trace_penalty": 2.0, "centre": "columns"}, {"warm_start": True}]
)
def test_a_fit_can_be_stored_and_restored(settings_of):
    X, _, _ = rank_five(n=100, d=30, share=0.3)
    check_fitted_state(SparseCompleter(**settings_of), X)
    original, restored = SparseCompleter().fit(X), SparseCompleter()
    restored.restore_fitted(original.fitted_state())
    np.testing.assert_array_equal(everything(restored), everything(original))
    np.testing.assert_array_equal(restored.completed_rows(slice(5)), original.completed_rows(slice(5)))


@pytest.mark.parametrize("other", [SoftImputeCompleter, NNLSCompleter])
def test_is_the_dense_completers_table(other):
    X, _, _ = rank_five(n=60, d=40, share=0.4)
    dense = np.full(X.shape, np.nan)
    dense[X.nonzero()] = X.data
    options = {"truncate": False} if other is NNLSCompleter else {}
    theirs = other(trace_penalty=1.0, scale=None, tol=1e-8, max_iter=50_000, **options).fit(dense)
    ours = SparseCompleter(**{**EXACT, "rank": 40}, centre="none").fit(X)
    assert ours.objective_[-1] == pytest.approx(theirs.objective_[-1], rel=1e-7)
    assert ours.duality_gap_ <= 1e-5 * ours.objective_[-1]
    np.testing.assert_allclose(ours.completed_rows(slice(None)), theirs.completed_, atol=1e-3)


@settings(max_examples=30)
@given(table=tables(), centre=st.sampled_from(["none", "columns", "both"]))
def test_a_stored_zero_is_an_observed_zero(table, centre):
    values, observed = table
    as_array = np.where(observed, values, np.nan)  # here a 0 cannot be taken for a hole
    completer = SparseCompleter(**EXACT, centre=centre)
    here, there = clone(completer).fit(sparse_of(values, observed)), clone(completer).fit(as_array)
    np.testing.assert_array_equal(here.row_factors_, there.row_factors_)
    kept = here.completed_rows(slice(0, len(values)))
    np.testing.assert_array_equal(kept[observed], values[observed])


def test_zeros_pull_estimates_down():
    rng = np.random.default_rng(0)
    i, j = np.divmod(rng.permutation(200 * 30)[:2000], 30)
    values = np.where(j < 15, 0.0, 5.0)
    completer = SparseCompleter().fit(coo_array((values, (i, j)), shape=(200, 30)))
    low, high = completer.estimate([0, 1], [3, 4]), completer.estimate([0, 1], [20, 21])
    assert (np.abs(low) < 1).all()
    assert (np.abs(high - 5) < 1).all()


@settings(max_examples=30)
@given(table=tables(), seed=st.integers(0, 99), centre=st.sampled_from(["none", "both"]))
def test_reordered_rows_and_columns_reorder_the_result(table, seed, centre):
    values, observed = table
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(values.shape[0]), rng.permutation(values.shape[1])
    completer = SparseCompleter(**EXACT, centre=centre)
    here = everything(clone(completer).fit(sparse_of(values, observed)))
    place = np.ix_(rows, columns)
    there = everything(clone(completer).fit(sparse_of(values[place], observed[place])))
    # Both are within tol of the best objective; a component at the threshold is only known to its root.
    np.testing.assert_allclose(there, here[place], atol=1e-3 * (1 + np.abs(values).max()))


def test_the_size_of_blocks_changes_nothing_but_rounding(monkeypatch):
    X, _, _ = rank_five(n=500, d=60)
    whole = everything(SparseCompleter(trace_penalty=2.0).fit(X))
    monkeypatch.setattr(variable_projection, "LEAST_CELLS", 50)
    cut = SparseCompleter(trace_penalty=2.0).fit(X)
    np.testing.assert_allclose(everything(cut), whole, atol=1e-6)


@pytest.mark.slow
def test_threads_and_seeds_change_no_bit(monkeypatch):
    monkeypatch.setattr(variable_projection, "LEAST_CELLS", 200)
    X, _, _ = rank_five(n=500, d=60)
    one, again, two = (SparseCompleter(rank=4, n_jobs=jobs).fit(X) for jobs in (1, 1, 2))
    generator = SparseCompleter(rank=4, random_state=np.random.default_rng(0)).fit(X)
    np.testing.assert_array_equal(again.column_factors_, one.column_factors_)
    np.testing.assert_array_equal(two.column_factors_, one.column_factors_)
    np.testing.assert_array_equal(two.row_factors_, one.row_factors_)
    assert generator.rank_ == one.rank_


def test_a_table_that_could_never_be_written_out():
    rng = np.random.default_rng(0)
    i, j = rng.integers(2_000_000, size=1000), rng.integers(1_000_000, size=1000)
    X = coo_array((rng.normal(size=1000), (i, j)), shape=(2_000_000, 1_000_000))
    tracemalloc.start()
    completer = SparseCompleter(rank=2, trace_penalty=0.5).fit(X)
    estimates = completer.estimate(i, j)
    new = completer.transform(csr_array(X)[:100_000])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # (n + d) (rank + 1) numbers are 72 MB; written out, the table would be 16 TB.
    assert peak < 300e6
    assert np.isfinite(estimates).all()
    np.testing.assert_allclose(new, completer.row_factors_[:100_000], atol=1e-12)


@pytest.mark.slow
def test_recovers_a_table_of_rank_five():
    X, rows, columns = rank_five()
    completer = SparseCompleter().fit(X)
    rng = np.random.default_rng(7)
    i, j = rng.integers(2000, size=50_000), rng.integers(400, size=50_000)
    truth = np.einsum("ij,ij->i", rows[i], columns[j])
    error = np.sqrt(np.mean((completer.estimate(i, j) - truth) ** 2))
    # Least squares on the true column factors: 0.5 sqrt(5 / 40) = 0.18 from 40 cells in a row. The columns
    # have 200 cells each, which adds 0.08. Seeds 0 to 4 gave 0.209 to 0.211; column means give 1.
    assert error < 0.22
    assert completer.rank_ == 5


@pytest.mark.slow
def test_fills_as_well_as_the_dense_completer():
    X, rows, columns = rank_five(n=400, d=100, share=0.25, seed=1)
    dense = np.full(X.shape, np.nan)
    dense[X.nonzero()] = X.data
    truth, holes = rows @ columns.T, np.isnan(dense)
    theirs = SoftImputeCompleter().fit(dense).completed_
    ours = SparseCompleter().fit(X).completed_rows(slice(None))
    error = [np.sqrt(np.mean((filled - truth)[holes] ** 2)) for filled in (ours, theirs)]
    # Seeds 0 to 4: 0.289 to 0.296 against 0.339 to 0.347.
    assert error[0] < error[1]


@pytest.mark.parametrize("centre", ["none", "columns", "both"])
def test_new_rows_are_as_in_the_fit(centre):
    X, _, _ = rank_five(n=300, d=60)
    completer = SparseCompleter(centre=centre, trace_penalty=2.0).fit(X)
    np.testing.assert_allclose(completer.transform(X), completer.row_factors_, atol=1e-7)
    np.testing.assert_allclose(completer.complete(X), completer.completed_rows(slice(None)), atol=1e-7)
    few = completer.complete(X[10:12])
    np.testing.assert_allclose(few, completer.completed_rows(slice(10, 12)), atol=1e-7)
    empty = completer.complete(csr_array((1, 60)))
    np.testing.assert_allclose(empty[0], completer.column_offsets_)


def test_rows_and_columns_without_cells_get_the_offsets():
    X = coo_array(([1.0, 2.0, 4.0, 5.0], ([0, 0, 2, 2], [0, 1, 0, 1])), shape=(4, 3))
    completer = SparseCompleter(trace_penalty=0.1).fit(X)
    assert completer.estimate([3], [2])[0] == pytest.approx(3.0)  # the overall mean
    assert not completer.row_factors_[[1, 3]].any()
    assert not completer.column_factors_[2].any()


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_constant_tables_are_their_constant(value):
    X = csr_array(sparse_of(np.full((6, 5), value), np.eye(6, 5, dtype=bool)))
    completer = SparseCompleter().fit(X)
    assert completer.rank_ == 0
    np.testing.assert_allclose(completer.completed_rows(slice(None)), value)
    assert completer.transform(X).shape == (6, 0)


def test_attributes_say_how_it_went():
    X, _, _ = rank_five(n=300, d=60)
    completer = SparseCompleter(trace_penalty=0.2, penalty_unit="relative", centre="none").fit(X)
    largest = np.linalg.norm(X.toarray(), 2)
    assert completer.trace_penalty_ == pytest.approx(0.2 * largest, rel=1e-3)
    assert completer.converged_
    assert len(completer.objective_) == completer.n_iter_ + 1
    assert (np.diff(completer.objective_) <= 0).all()
    Z = completer.row_factors_ @ completer.column_factors_.T
    np.testing.assert_allclose(
        completer.singular_values_, np.linalg.svd(Z, compute_uv=False)[: completer.rank_]
    )
    assert list(completer.get_feature_names_out())[:1] == ["sparsecompleter0"]
    copy = pickle.loads(pickle.dumps(completer))
    np.testing.assert_array_equal(copy.completed_rows(slice(5)), completer.completed_rows(slice(5)))


@pytest.mark.slow
def test_a_warm_start_takes_fewer_steps_to_the_same_place():
    X, rows, columns = rank_five(n=1000, d=200)
    warm = SparseCompleter(warm_start=True).fit(X)
    penalty = warm.trace_penalty_
    i, j = np.nonzero(X.toarray() == 0)
    few = np.random.default_rng(0).choice(len(i), 200, replace=False)
    answers = coo_array((np.einsum("ij,ij->i", rows[i[few]], columns[j[few]]), (i[few], j[few])), X.shape)
    more = csr_array(X + answers)
    warm.fit(more)
    cold = SparseCompleter(rank=5, trace_penalty=warm.trace_penalty_).fit(more)
    assert warm.n_iter_ < cold.n_iter_ / 2
    assert warm.trace_penalty_ == pytest.approx(penalty, rel=0.05)
    assert warm.objective_[-1] == pytest.approx(cold.objective_[-1], rel=1e-4)
    assert warm.fit(more[:, :150]).column_factors_.shape[0] == 150  # other columns: a fresh start


def test_a_callback_is_told_and_can_stop_and_haste_is_warned_about():
    X, _, _ = rank_five(n=300, d=60)
    told = []
    completer = SparseCompleter(
        trace_penalty=0.5, tol=1e-14, callback=lambda p: told.append(p) or len(told) == 2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        completer.fit(X)
    assert [p.iteration for p in told] == [1, 2]
    assert not completer.converged_
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        SparseCompleter(trace_penalty=0.5, tol=1e-14, max_iter=1).fit(X)


def test_wrong_settings_and_places_are_refused():
    check_refuses(
        SparseCompleter,
        rank=0,
        trace_penalty=0.0,
        penalty_unit="percent",
        centre="rows",
        tol=-1.0,
        max_iter=0,
    )
    completer = SparseCompleter(trace_penalty=0.1).fit(np.eye(3))
    for rows, columns in (([0, 3], [0, 0]), ([0], [-1]), ([0, 1], [0]), ([0.5], [0]), ([[0]], [[0]])):
        with pytest.raises(DataError, match=r"rows|columns"):
            completer.estimate(rows, columns)
