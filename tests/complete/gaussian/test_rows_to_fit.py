"""What a fit asks of its rows is the same whether they are in this memory or in row blocks."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.compiled.library import kernels
from cellworth.complete.gaussian import rows_to_fit
from cellworth.complete.gaussian.dense_gaussian import start_from_pairs
from cellworth.complete.gaussian.rows_to_fit import SAMPLE_ROWS, ArrayRows, BlockRows, CellForm, sample_stride
from cellworth.complete.table_summary import summarise
from tests.blocks.tables import make_table
from tests.conftest import need


@pytest.fixture
def both():
    """The same table in memory and in blocks of 70 rows."""
    X, y = make_table(300, 4, 0, labelled=0.8)
    with ThreadEngine(n_jobs=1, block_rows=70) as engine:
        source = open_blocks(X, target=y, engine=engine)
        yield ArrayRows(X, y, "auto", engine), BlockRows(source, summarise(source), "auto")


def test_margins(both):
    whole, blocks = both
    assert whole.n_rows == blocks.n_rows == 300
    np.testing.assert_array_equal(whole.counts, blocks.counts)
    one = whole.all_rows
    scores = [rows.rank_margins().to_scores(one.values, one.observed) for rows in both]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-9)


def test_some_rows_by_their_number_in_any_order(both):
    whole, blocks = both
    for numbers in (np.array([3, 299, 0, 70, 69]), np.array([], dtype=int), np.arange(300)[::-1]):
        one, other = whole.rows_at(numbers), blocks.rows_at(numbers)
        np.testing.assert_array_equal(one.values, whole.all_rows.values[numbers])
        np.testing.assert_allclose(other.values, one.values, atol=1e-12)
        np.testing.assert_array_equal(other.observed, one.observed)


def test_some_rows_by_their_number_among_the_labelled(both):
    whole, blocks = both
    _, y = make_table(300, 4, 0, labelled=0.8)
    rows = np.flatnonzero(~np.isnan(y))
    numbers = np.random.default_rng(0).permutation(len(rows))[:50]
    one, other = whole.labelled_at(numbers), blocks.labelled_at(numbers)
    np.testing.assert_array_equal(one.rows.observed, whole.all_rows.observed[rows[numbers]])
    np.testing.assert_array_equal(one.targets[:, 0] > 0, y[rows[numbers]] == np.nanmax(y))
    for name in ("columns", "targets"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), atol=1e-12)
    np.testing.assert_allclose(other.rows.values, one.rows.values, atol=1e-12)
    assert type(other.code.loss) is type(one.code.loss)


@pytest.mark.parametrize("trust", [0.0, 0.5])
def test_sums_of_pairs_and_the_expectation(both, trust):
    found = []
    for rows in both:
        some, sampled = rows.take(CellForm(rows.scaling, rows.rank_margins(), rows.code, trust))
        assert not sampled
        assert some.scores.shape[1] == 4 + (trust > 0)
        pairs = rows.pair_sums()
        model = start_from_pairs(*pairs, 1.0)
        found.append((*pairs, model.improved(rows.expect(model)(model), 1.0)[2].covariance))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-8)


def test_a_long_table_is_sampled():
    assert sample_stride(SAMPLE_ROWS) == 1
    for n_rows in (2 * SAMPLE_ROWS, 7 * SAMPLE_ROWS - 1, 10**6):
        assert SAMPLE_ROWS <= n_rows / sample_stride(n_rows) < 2 * SAMPLE_ROWS


@pytest.mark.parametrize("slice_rows", [25, 12_500])
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("chosen", [{"label_trust": 0.3}, {"label_trust": 0.0}, {"margins": "rank"}])
def test_what_does_not_fit_in_memory_is_read_again(monkeypatch, slice_rows, streamed, chosen):
    """With the same blocks, what is kept and what is read again give the same, to the sums of slices."""
    need(not streamed or kernels() is not None, "the compiled kernels")
    monkeypatch.setattr(rows_to_fit, "SLICE_ROWS", slice_rows)
    if not streamed:
        monkeypatch.setattr(rows_to_fit, "can_stream", lambda kind: False)
    X, y = make_table(400, 5, 0)
    settings = {"margins": "normal", "label_trust": 0.0, **chosen}
    with ThreadEngine(2, 60) as engine:
        source = open_blocks(X, target=y, engine=engine)
        kept = GaussianCompleter(**settings).fit(source)
        bytes_per_cell = 8 if streamed else 31
        monkeypatch.setattr(engine, "room", lambda: bytes_per_cell * X.size - 1)
        maps = []
        monkeypatch.setattr(engine, "map", lambda *args, **more: maps.append(args))
        again = GaussianCompleter(**settings).fit(source)
    whole = GaussianCompleter(**settings).fit(X, y)
    assert not maps
    for other in (again, whole):
        np.testing.assert_allclose(kept.log_likelihood_, other.log_likelihood_, rtol=1e-10)
        np.testing.assert_allclose(kept.covariance_, other.covariance_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("labels", [2, 3, None])
def test_a_long_table_in_row_blocks_is_fitted_as_in_memory(labels):
    """Longer than any sample: what is chosen on some rows is chosen on the same ones."""
    rng = np.random.default_rng(4)
    score = rng.normal(size=4100)
    X = np.exp(score[:, None] + rng.normal(size=(4100, 3)))
    y = score if labels is None else np.digitize(score, [0.0, 0.9][: labels - 1]).astype(float)
    X[rng.random(X.shape) < 0.4] = np.nan
    y[rng.random(len(y)) < 0.3] = np.nan
    whole = GaussianCompleter().fit(X, y)
    with ThreadEngine(n_jobs=2, block_rows=900) as engine:
        blocks = GaussianCompleter().fit(open_blocks(X, target=y, engine=engine))
        completed, variance = blocks.completed_.gather()
    for name in ("margins_", "label_trust_", "shrinkage_"):
        assert getattr(whole, name) == getattr(blocks, name)
    assert whole.margins_ == "rank"
    # Sums over other blocks differ by rounding.
    np.testing.assert_allclose(completed, whole.completed_, rtol=1e-6)
    np.testing.assert_allclose(variance, whole.variance_, rtol=1e-5, atol=1e-9)
