"""Whatever the bytes: a table, or a DataError; never another exception."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError
from cellworth.table import Table

SEED = (
    b'id,age,"hue",visit,ok,y\r\na,61,"red, dark",2020-01-02,yes,1\n'
    b"b,,blue,2020-01-02T10:00,no,0\nc,1e5,\xc3\xa9,,,1\n"
)
pieces = st.sampled_from(
    [b",", b'"', b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"inf", b"-", b"nan", b" ", b"9" * 400,
     b"1_0", b"2020-13-01", b"2020-01-01T00:00:00+23:59", b"\xd9\xa1", b"e", b";", b"True",
     b"9999-12-31T23:59:59.9999999"]
)  # fmt: skip
edits = st.lists(
    st.tuples(st.integers(0, len(SEED)), st.integers(0, 5), pieces | st.binary(max_size=3)), max_size=6
)


def mutate(changes):
    content = SEED
    for start, length, piece in changes:
        content = content[:start] + piece + content[start + length :]
    return content


@settings(max_examples=400, deadline=None)
@given(edits, st.sampled_from([{}, {"target": "y"}, {"row_id": "id"}, {"target": "y", "row_id": "id"}]))
def test_damaged_csv(tmp_path_factory, changes, keywords):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(mutate(changes))
    with contextlib.suppress(DataError):
        table = Table.read(path, **keywords)
        table.write(path)
        assert Table.read(path, **table.keywords()).equals(table)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz", ".parquet"]))
def test_any_bytes(tmp_path_factory, content, suffix):
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        Table.read(path)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_parquet(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "fuzz.parquet"
    Table.from_arrays([[1, "a"], [None, "b"]], [0, 1]).write(path)
    content = bytearray(path.read_bytes())
    for _ in range(3):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with contextlib.suppress(DataError):
        Table.read(path)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(
            st.none() | st.floats() | st.integers() | st.text(max_size=4)
            | st.booleans() | st.dates() | st.complex_numbers(),
            min_size=2, max_size=2,
        ),
        min_size=1, max_size=5,
    )
)  # fmt: skip
def test_any_objects(rows):
    with contextlib.suppress(DataError):
        table = Table.from_arrays(rows)
        assert table.shape == (len(rows), 2)


def test_the_undamaged_seed_is_a_table(tmp_path):
    path = tmp_path / "seed.csv"
    path.write_bytes(SEED)
    assert Table.read(path, target="y", row_id="id").shape == (3, 4)
    path.write_bytes(mutate([(0, 2, b"\xff")]))
    with pytest.raises(DataError, match="0xff"):
        Table.read(path)
