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


def test_margins_and_the_rows_to_choose_on(both):
    whole, blocks = both
    np.testing.assert_array_equal(whole.counts, blocks.counts)
    one, other = whole.to_choose_on(), blocks.to_choose_on()
    np.testing.assert_allclose(other.values, one.values, atol=1e-12)
    np.testing.assert_array_equal(other.observed, one.observed)
    scores = [rows.rank_margins().to_scores(one.values, one.observed) for rows in both]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-9)


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
