"""A table in row blocks as numeric columns: apart from what was learned, it is what its files have."""

import pickle

import numpy as np
import pytest

from cellworth.blocks import ThreadEngine
from cellworth.blocks.encoded_table import FileMemory
from cellworth.complete.gaussian.margins import learn_margins
from cellworth.complete.table_summary import summarise
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    return both_of(tmp_path_factory.mktemp("encoded"), make_frame(np.random.default_rng(0)))[0]


def test_learned_cells_are_numeric_columns_of_their_rows(big):
    hue, seen = big.column_index("hue"), big.column_index("seen")
    whole = big.every(1).values
    rows = np.flatnonzero(np.isnan(whole[:, hue]) & np.isnan(whole[:, seen]))[:2]
    now = big.with_cells(np.repeat(rows, 2), np.array([hue, seen, hue, seen]), np.array([1.0, 9.0, 2.0, 8.0]))
    files, learned, memory = now.source().table.as_files()
    assert memory is big.memory
    assert files.table.learned is None
    assert files.identity() == big.source().table.identity() != now.source().table.identity()
    assert learned.rows.tolist() == rows.tolist()
    names = list(now.layout.feature_names)
    at = [names.index(name) for name in ("hue=blue", "hue=green", "hue=red", "seen")]
    assert learned.X[:, at].tolist() == [[0.0, 1.0, 0.0, 9.0], [0.0, 0.0, 1.0, 8.0]]
    assert np.isnan(np.delete(learned.X, at, axis=1)).all()


def test_replaced_values_are_not_told_apart_from_the_files(big):
    known = np.argwhere(~np.isnan(big.every(1).values))[:1]
    corrected = big.with_cells(known[:, 0], known[:, 1], np.array([1.0]), np.array([True]))
    assert corrected.source().table.as_files() is None
    assert big.source().with_blocks(lambda block: block).recall("summary", lambda files: 1) is None


@pytest.fixture
def table(tmp_path):
    return both_of(tmp_path, make_frame(np.random.default_rng(0)))[0]


def some_holes(table, rng, k):
    """Return k holes and values that occur in their columns."""
    whole = table.every(1)
    cells = rng.permutation(np.argwhere(np.isnan(whole.values)))[:k]
    values = [rng.choice(whole.values[~np.isnan(whole.values[:, j]), j]) for j in cells[:, 1]]
    return cells[:, 0], cells[:, 1], np.array(values)


def fresh(table):
    """Return the same table with nothing remembered and no way to."""
    source = table.source()
    return source.with_blocks(lambda block: block)


def same(found, expected):
    for name in ("low", "high", "first", "counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.sums.mean, expected.sums.mean, rtol=1e-12)
    np.testing.assert_allclose(found.sums.squares, expected.sums.squares, rtol=1e-10)
    assert (found.rows, found.labelled) == (expected.rows, expected.labelled)
    np.testing.assert_array_equal(found.known, expected.known)


def test_summaries_samples_and_margins_with_what_was_learned(table):
    rng = np.random.default_rng(1)
    for k in (0, 1, 40, 60):
        now = table.with_cells(*some_holes(table, rng, k)) if k else table
        source, plain = now.source(), fresh(now)
        same(summarise(source), summarise(plain))
        for every in (1, 3, 7):
            one, other = source.sample(every), plain.sample(every)
            np.testing.assert_array_equal(one.X, other.X)
            np.testing.assert_array_equal(one.y, other.y)
        scaling = summarise(source).scaling("standard", np.float64)
        for one, other in zip(
            learn_margins(source, scaling).columns, learn_margins(plain, scaling).columns, strict=True
        ):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one.values, other.values)
                np.testing.assert_allclose(one.scores, other.scores)


def test_nothing_is_read_twice_unless_values_of_the_files_were_replaced(table, monkeypatch):
    engine, passes = ThreadEngine(1, 37), []
    real = engine.reduce
    monkeypatch.setattr(engine, "reduce", lambda *args, **more: passes.append(1) or real(*args, **more))
    table = table.on(engine)
    cells = some_holes(table, np.random.default_rng(2), 12)
    passes.clear()
    for now in (table, table.with_cells(*cells), table.with_cells(*cells).with_cells(*cells)):
        assert len(summarise(now.source()).rows) == 6
        now.source().sample(4)
        assert len(passes) == 2
    assert now.n_holes == table.n_holes - 12
    known = np.argwhere(~np.isnan(table.every(1).values))[:1]
    passes.clear()
    corrected = table.with_cells(known[:, 0], known[:, 1], np.array([1.0]), np.array([True]))
    same(summarise(corrected.source()), summarise(fresh(corrected)))
    opened = table.with_cells(known[:, 0], known[:, 1], np.array([np.nan]))
    same(summarise(opened.source()), summarise(fresh(opened)))
    assert len(passes) == 4
    summarise(table.on(ThreadEngine(1, 50)).source())  # other blocks, of which other things are known


def test_a_copy_begins_anew():
    memory = FileMemory()
    assert memory.recall("a", lambda: 1) == memory.recall("a", lambda: 2) == 1
    assert pickle.loads(pickle.dumps(memory)).recall("a", lambda: 3) == 3


def test_an_unmeasured_column_is_made_up_in_each_pass(tmp_path):
    import pyarrow as pa

    frame = make_frame(np.random.default_rng(2)).append_column("dose", pa.nulls(160, pa.float64()))
    big, _ = both_of(tmp_path, frame, kinds={"dose": "number"}, bounds={"dose": (0, 12)})
    same(summarise(big.source()), summarise(fresh(big)))
    learned = big.with_cells(np.array([3]), np.array([5]), np.array([7.0]))
    same(summarise(learned.source()), summarise(fresh(learned)))
