"""A table opened in blocks is the table that is read whole: kinds, cells, labels, ids and messages."""

import datetime
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Table
from cellworth.blocks import ThreadEngine
from cellworth.errors import CellworthError, DataError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DAY = datetime.date(2020, 1, 31)
CELLS = {
    "whole": st.integers(-50, 50),
    "number": st.sampled_from([0.5, 1.25, -3.0, 1e6, 2.0]),
    "flag": st.booleans(),
    "day": st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)),
    "moment": st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2030, 1, 1)),
    "hue": st.sampled_from(["red", "green ", "blue", "n/a", "?"]),
    "answer": st.sampled_from(["yes", "no"]),
    "digits": st.sampled_from(["1", "2.5", "-9", "NA"]),
    "iso": st.sampled_from(["2020-01-31", "2019-12-01"]),
}


@st.composite
def frames(draw):
    """Draw (pyarrow table, keywords): columns of all kinds with holes, perhaps a target and row ids."""
    n = draw(st.integers(6, 40))
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5, unique=True))
    columns = {}
    for name in names:
        filled = st.lists(st.none() | CELLS[name], min_size=n, max_size=n)
        columns[name] = draw(filled)
    said = {"missing": draw(st.sampled_from([(), ["?"], ["-9", "?"]]))}
    if draw(st.booleans()):
        columns["outcome"] = draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=n, max_size=n))
        said["target"] = "outcome"
    if draw(st.booleans()):
        ids = draw(st.permutations(range(n))) if draw(st.booleans()) else range(n)
        columns["id"] = [f"p{i}" for i in ids] if draw(st.booleans()) else list(ids)
        said["row_id"] = "id"
    return pa.table(columns), said


def outcome(make):
    """Return the table, or the message of the error, without the name of the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except CellworthError as error:
            return str(error).split(":", 1)[1]


def written(folder, frame, files):
    """Write a frame as a folder of files and as one file; return both paths."""
    (folder / "big").mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        if len(rows):
            pq.write_table(frame.take(rows), folder / "big" / f"{k}.parquet", row_group_size=7)
    pq.write_table(frame, folder / "all.parquet")
    return folder / "big", folder / "all.parquet"


@settings(max_examples=40)
@given(case=frames(), files=st.integers(1, 3), block_rows=st.sampled_from([1, 5, 1000]))
def test_it_is_the_table_that_is_read_whole(tmp_path_factory, case, files, block_rows):
    frame, said = case
    big, whole = written(tmp_path_factory.mktemp("open"), frame, files)
    expected = outcome(lambda: Table.read(whole, **said))
    with ThreadEngine(1, block_rows) as engine:
        found = outcome(lambda: Table.open(big, engine=engine, **said))
        if isinstance(expected, str):
            assert isinstance(found, str)
            assert found.split(" in row")[0] == expected.split(" in row")[0]
            return
        assert not isinstance(found, str), found
        assert found.every(1).equals(expected)
        assert found.columns == expected.columns
        assert found.known.tolist() == (~expected.holes).sum(axis=0).tolist()
        assert repr(found).splitlines()[1:] == repr(expected).splitlines()[1:]
        for j, column in enumerate(expected.columns):
            values = expected.values[~expected.holes[:, j], j]
            if not column.categories and column.kind != "boolean":
                near = np.linspace(0, 1, 7)
                assert np.array_equal(
                    column.rounded(column.nearest(near), found.fineness[j]),
                    column.rounded_like(column.nearest(near), values),
                )
        X = np.concatenate([block.read().X for block in found.blocks.items])
        assert np.array_equal(X, expected.encode(prior=True).X, equal_nan=True)


def make(folder, files=2, **columns):
    return written(folder, pa.table(columns), files)[0]


@pytest.mark.parametrize(
    ("columns", "said", "message"),
    [
        ({"age": [1.0, 2.0, np.inf, 4.0]}, {}, "expected finite numbers, got 'inf' in row 'p2'"),
        (
            {"age": [1, 2, 300, 4]},
            {"bounds": {"age": (0, 120)}},
            "expected a whole number from 0 to 120, got 300 in row 'p2'",
        ),
        ({"age": ["1", "2", "3", "old"]}, {}, "expected numbers, got 'old' in row 'p3'"),
        ({"age": [None, None, None, None]}, {}, "expected at least one observed value, got only holes"),
        ({"age": [1, 2, 3, 4]}, {"target": "ill"}, "names the column 'ill', which is not there"),
        ({"age": [1, 2, 3, 4], "ill": [1, 1, None, 1]}, {"target": "ill"}, "at least two different labels"),
    ],
)
def test_messages_name_the_users_row_and_column(tmp_path, columns, said, message):
    big = make(tmp_path, id=["p0", "p1", "p2", "p3"], **columns)
    with pytest.raises(DataError, match=message):
        Table.open(big, row_id="id", **said)


@pytest.mark.parametrize("ids", [["a", "b", "a", "c"], [1, 2, 3, 1]])
def test_ids_must_differ(tmp_path, ids):
    big = make(tmp_path, id=ids, age=[1, 2, 3, 4])
    with pytest.raises(DataError, match=r"row ids must differ, got '(a|1)' in rows number 1 and (3|4)"):
        Table.open(big, row_id="id")


def test_every_row_needs_an_id(tmp_path):
    big = make(tmp_path, id=["a", None, "b", "c"], age=[1, 2, 3, 4])
    with pytest.raises(DataError, match="every row needs an id, got none in row number 2"):
        Table.open(big, row_id="id")


def test_too_many_texts(tmp_path, monkeypatch):
    monkeypatch.setattr("cellworth.blocks.column_digest.MOST_TEXTS", 3)
    big = make(tmp_path, name=[f"n{i}" for i in range(8)], age=list(range(8)))
    with pytest.raises(DataError, match="column 'name': more than 3 different texts, such as 'n0'"):
        Table.open(big)


def test_our_own_files_come_back_with_kinds_bounds_and_target(tmp_path):
    table = Table.from_arrays(
        [[1, "low"], [None, "high"], [3, None]],
        [0, 1, 1],
        columns=["age", "grade"],
        kinds={"grade": "ordered"},
        categories={"grade": ["low", "mid", "high"]},
        bounds={"age": (0, 120)},
        row_ids=["a", "b", "c"],
    )
    (tmp_path / "big").mkdir()
    table.write(tmp_path / "big" / "part.parquet")
    assert Table.open(tmp_path / "big").every(1).equals(table)


def test_zarr_and_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = np.array([[1.0, np.nan], [2.5, 4.0], [np.nan, 6.0]])
    for name, array in (("x", X), ("y", np.array([0.0, 1.0, 1.0]))):
        zarr.create_array(str(tmp_path / f"{name}.zarr"), data=array)
    expected = Table.from_arrays(X, [0, 1, 1], columns=["a", "b"], target="target")
    stored = Table.open(tmp_path / "x.zarr", labels=tmp_path / "y.zarr", columns=["a", "b"])
    for table in (stored, Table.open(X, labels=[0, 1, 1], columns=["a", "b"])):
        assert np.array_equal(table.every(1).values, expected.values, equal_nan=True)
        assert table.column_names == ("a", "b")
        assert table.every(1).y.tolist() == [0, 1, 1]


def test_some_columns(tmp_path):
    big = make(tmp_path, id=["a", "b", "c"], age=[1, 2, 3], note=["x", "y", "z"], ill=[0, 1, 1])
    table = Table.open(big, target="ill", row_id="id", columns=["age"])
    assert table.column_names == ("age",)
    assert table.target.classes == (0, 1)
