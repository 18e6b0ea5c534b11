"""A Dask data frame is the table that its rows are in one frame."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Campaign, GaussianCompleter, Table, advise, fill
from cellworth.blocks import ThreadEngine
from cellworth.errors import CellworthError, DataError, ParameterError
from tests.blocks.engines import need_dask
from tests.blocks.test_open_table import frames

need_dask()
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def outcome(make):
    """Return the table, or the first words of the message."""
    try:
        return make()
    except CellworthError as error:
        return str(error).split(":", 1)[1].split(" in row")[0]


def as_pandas(frame, *, nullable):
    """Return a pyarrow table as a pandas frame: with types of Arrow, or of pandas."""
    if nullable:
        return frame.to_pandas(types_mapper=pd.ArrowDtype)
    # Dask makes texts of objects, which booleans with holes would be.
    return frame.to_pandas(date_as_object=False, types_mapper={pa.bool_(): pd.BooleanDtype()}.get)


@settings(max_examples=12, deadline=None)
@given(
    case=frames(),
    parts=st.integers(1, 3),
    block_rows=st.sampled_from([9, 1000]),
    nullable=st.booleans(),
)
@pytest.mark.filterwarnings("ignore")
def test_it_is_the_table_of_the_whole_frame(case, parts, block_rows, nullable):
    frame, said = case
    whole = as_pandas(frame, nullable=nullable)
    expected = outcome(lambda: Table.from_frame(whole, **said))
    with ThreadEngine(1, block_rows) as engine:
        found = outcome(
            lambda: Table.open(dd.from_pandas(whole, npartitions=parts, sort=False), engine=engine, **said)
        )
        if isinstance(expected, str):
            assert isinstance(found, str)
            return
        assert not isinstance(found, str), found
        assert found.every(1).equals(expected)
        assert found.columns == expected.columns


def made(n=300, parts=3):
    """Return a frame of texts and numbers, and the same as a Dask frame."""
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "size": rng.normal(size=n),
            "hue": rng.choice(["red", "green"], n),
            "ill": rng.choice([0.0, 1.0], n),
        }
    )
    whole["size"] = whole["size"].mask(rng.random(n) < 0.4)
    whole["hue"] = whole["hue"].mask(rng.random(n) < 0.3)
    return whole, dd.from_pandas(whole, npartitions=parts)


def test_it_is_filled_and_advised_on_like_a_table_in_memory(tmp_path):
    whole, frame = made()
    names = {"target": "ill", "row_id": "id"}
    table, expected = Table.open(frame, **names), Table.from_frame(whole, **names)
    completer = GaussianCompleter(margins="normal", label_trust=0)
    fill(table, completer).write(tmp_path / "filled")
    filled = Table.open(tmp_path / "filled", **names).every(1)
    np.testing.assert_allclose(filled.values, fill(expected, completer).table.values, rtol=1e-9)
    both = [[(p.row, p.column) for p in advise(each, count=12, seed=2)] for each in (table, expected)]
    assert both[0] == both[1]


def test_some_columns_and_single_precision():
    whole, frame = made()
    table = Table.open(frame, columns=["size"], target="ill")
    assert table.column_names == ("size",)
    assert table.row_ids(np.array([2, 0])) == ["2", "0"]
    assert table.stored.identity()["columns"] == ["size", "ill"]
    small = Table.open(dd.from_pandas(whole[["size"]].astype("float32"), npartitions=2))
    assert small.stored.dtype == np.float32


def test_blocks_can_be_sent_to_workers():
    _, frame = made()
    block = Table.open(frame, target="ill", row_id="id").blocks.items[0]
    sent = pickle.loads(pickle.dumps(block))
    np.testing.assert_array_equal(sent.cells()[0], block.cells()[0])


def test_what_cannot_be_opened_says_so():
    whole, frame = made()
    with pytest.raises(DataError, match="no column 'sise'; got id, size"):
        Table.open(frame, columns=["sise"])
    with pytest.raises(DataError, match="has no rows"):
        Table.open(dd.from_pandas(whole[:0], npartitions=1))
    with pytest.raises(ParameterError, match="name the column with target"):
        Table.open(frame, labels=np.zeros(3))
    with pytest.raises(ParameterError, match="Write it to a folder first"):
        Campaign.create(Table.open(frame, target="ill", row_id="id"), prices=1.0, store="memory://")


def test_a_partition_without_values_has_the_kind_of_the_others_and_mixed_ones_are_refused():
    import dask

    with dask.config.set({"dataframe.convert-string": False}):
        some = pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, dtype=object)
        texts = pd.DataFrame({"a": ["x", "y"], "b": [3.5, None]}, dtype=object)
        numbers = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]}, dtype=object)
        table = Table.open(dd.concat([dd.from_pandas(each, npartitions=1) for each in (some, texts)]))
        assert [column.kind for column in table.columns] == ["category", "number"]
        assert table.known.tolist() == [2, 3]
        with pytest.raises(DataError, match=r"column 'a'.*Give the column one type"):
            Table.open(dd.concat([dd.from_pandas(each, npartitions=1) for each in (numbers, texts)]))
