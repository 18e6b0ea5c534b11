from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cellworth import advise, fill
from cellworth.errors import DataError
from cellworth.table import Table

NAN = np.nan
DAY = datetime(2020, 1, 1)


def column_of(values):
    table = Table.from_frame(pd.DataFrame({"a": values}))
    return table.columns[0], table.values[:, 0]


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        (np.array([1, 2], dtype=np.int8), "integer", [1, 2]),
        (np.array([1, 2**40], dtype=np.uint64), "integer", [1, 2**40]),
        (np.array([1.5, NAN], dtype=np.float32), "number", [1.5, NAN]),
        (pd.array([1, None], dtype="Int64"), "integer", [1, NAN]),
        (pd.array([1.5, None], dtype="Float64"), "number", [1.5, NAN]),
        (pd.array([1, None], dtype="int64[pyarrow]"), "integer", [1, NAN]),
        ([True, False], "boolean", [1, 0]),
        ([True, None], "boolean", [1, NAN]),
        (pd.array([True, None], dtype="boolean"), "boolean", [1, NAN]),
        (pd.to_datetime(["2020-01-01", None]), "date", [18262, NAN]),
        (pd.to_datetime(["2020-01-01 00:00+12:00", None]), "date", [18261.5, NAN]),
        (pd.array([date(2020, 1, 1), None], dtype=pd.ArrowDtype(pa.date32())), "date", [18262, NAN]),
        ([date(2020, 1, 1), None], "date", [18262, NAN]),
        ([Decimal("1.5"), None], "number", [1.5, NAN]),
        (["2", None], "integer", [2, NAN]),
        (["b", "a"], "category", [1, 0]),
        (pd.array(["b", None], dtype="string"), "category", [0, NAN]),
        (["b", ""], "category", [0, NAN]),
        (["b", pd.NA], "category", [0, NAN]),
    ],
)
def test_pandas_types(values, kind, numbers):
    column, got = column_of(values)
    assert column.kind == kind
    np.testing.assert_array_equal(got, numbers)


def test_pandas_categoricals():
    column, values = column_of(pd.Categorical(["x", None, "y"], categories=["y", "x", "z"], ordered=True))
    assert (column.kind, column.categories) == ("ordered", ("y", "x", "z"))
    np.testing.assert_array_equal(values, [1, NAN, 0])
    column, values = column_of(pd.Categorical([2, None, 1]))
    assert (column.kind, column.categories) == ("category", ("1", "2"))
    column, _ = column_of(pd.cut([1, 5, 9], [0, 4, 10]))
    assert (column.kind, column.categories) == ("ordered", ("(0, 4]", "(4, 10]"))
    column, values = column_of(pd.Categorical(["a", " a", "", "b"], categories=["", "b", "a", " a"]))
    assert column.categories == ("b", "a")
    np.testing.assert_array_equal(values, [1, 1, NAN, 0])


def test_polars_and_pyarrow_types():
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a", "c"])),
            "cat": pl.Series(["b", None, "a"], dtype=pl.Categorical),
            "day": [date(2020, 1, 1), None, date(2020, 1, 3)],
            "zone": pl.Series([DAY, None, DAY]).dt.replace_time_zone("Asia/Tokyo"),
            "dec": pl.Series([Decimal("1.5"), None, Decimal(2)]),
            "flag": [True, None, False],
            "big": [2**53 - 1, None, 0],
            "float": [1.5, None, NAN],
        }
    )
    kinds = ["ordered", "category", "date", "date", "number", "boolean", "integer", "number"]
    wanted = [
        [0, 1, 18262, 18261.625, 1.5, 1, 2**53 - 1, 1.5],
        [NAN] * 8,
        [1, 0, 18264, 18261.625, 2, 0, 0, NAN],
    ]
    for given in (frame, frame.to_arrow(), pa.concat_tables([frame[:1].to_arrow(), frame[1:].to_arrow()])):
        table = Table.from_frame(given, categories={"cat": ["a", "b"]})
        assert [column.kind for column in table.columns] == kinds
        assert table.columns[0].categories == ("b", "a", "c")
        np.testing.assert_array_equal(table.values, wanted)


def test_marks_of_holes_match_equal_values():
    frame = pd.DataFrame({"i": [1, -9], "f": [-9.0, 1.0], "s": ["?", "x"], "d": [DAY, datetime(1900, 1, 1)]})
    table = Table.from_frame(frame, missing=[-9, "?", "1900-01-01"])
    assert table.holes.tolist() == [[False, True, True, False], [True, False, False, True]]


def test_row_ids_of_frames():
    frame = pd.DataFrame({"a": [1, 2], "id": ["x", "y"]})
    assert Table.from_frame(frame).row_ids == ("0", "1")
    assert Table.from_frame(frame, row_id="id").row_ids == ("x", "y")
    indexed = frame.set_index("id")
    assert Table.from_frame(indexed).row_ids == ("x", "y")
    assert Table.from_frame(indexed).row_id == "id"
    assert Table.from_frame(indexed, row_id="id").column_names == ("a",)
    assert Table.from_frame(frame[frame["a"] > 1]).row_ids == ("1",)
    assert Table.from_frame(frame[frame["a"] > 1]).row_id == "row_id"


@pytest.mark.parametrize("use", [Table.from_frame, fill, lambda frame: advise(frame, prices=1, budget=1)])
def test_a_bad_index_is_not_called_a_column(use):
    """The user has no column of row ids; what helps is said, and helps."""
    frame = pd.DataFrame({"a": [1, None, 2], "b": [2.0, 1.0, None]}, index=["x", "y", "z"])
    twice = pd.concat([frame, frame])
    with pytest.raises(DataError) as caught:
        use(twice)
    assert str(caught.value) == (
        "the DataFrame: the index names the rows, so its labels must differ; got 'x' in rows number 1 and 4 "
        "(3 repeated in all). Number the rows, as with reset_index(drop=True), or give each a label of its "
        "own."
    )
    use(twice.reset_index(drop=True))
    with pytest.raises(
        DataError, match="the index names the rows, so each needs a label; got '' in row number 2"
    ):
        use(frame.set_axis(["x", None, "z"]))


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([1, 2], ["builtins.list", "from_arrays"]),
        (pl.LazyFrame({"a": [1]}), ["polars.LazyFrame", "collect()"]),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["'a' more than once"]),
        (pd.DataFrame([[1, 2]], columns=["a", ""]), ["column 2 of 2 has no name"]),
        (pd.DataFrame({"a": []}), ["rows and columns", "(0, 1)"]),
        (pd.DataFrame({"a": [1j]}), ["'a'", "row '0'", "imaginary parts"]),
        (pd.DataFrame({"a": pd.to_timedelta([1], unit="D")}), ["'a'", "1 days"]),
        (pl.DataFrame({"a": [[1]]}), ["'a'", "row '0'", "[1]"]),
        (pl.DataFrame({"a": [b"x"]}), ["'a'", "row '0'"]),
        (pl.DataFrame({"a": [None, None]}), ["'a'", "only holes"]),
        (
            pd.DataFrame({"a": np.array(["20000-01-01"], dtype="M8[s]")}),
            ["'a'", "row '0'", "years 1 to 9999"],
        ),
        (pd.DataFrame({"a": [1, 2**60]}), ["'a'", "row '1'", "exactly", "row_id='a'"]),
        (pd.DataFrame({"a": [1.0, np.inf]}), ["'a'", "row '1'", "finite", "missing="]),
        (pd.DataFrame({"a": [1, "x", 2]}), ["'a'", "text in a numeric column", "'x' in row '1'"]),
        (pd.DataFrame({"a": ["x\0y"]}), ["'a'", "NUL"]),
    ],
)
def test_frames_that_cannot_be_used(frame, words):
    with pytest.raises(DataError) as caught:
        Table.from_frame(frame)
    for word in words:
        assert word in str(caught.value)


def test_a_cell_that_cannot_be_read_is_named_by_the_label_of_its_row():
    frame = pd.DataFrame({"x": [1.0, [2.0]]}, index=["p7", "p8"])
    with pytest.raises(DataError, match="in row 'p8'"):
        Table.from_frame(frame)


def test_columns_that_pandas_numbers_can_be_named_by_number():
    frame = pd.DataFrame([[1.0, "a", 3.0], [None, "b", 4.0], [2.0, "a", None]])
    table = Table.from_frame(frame, target=1, bounds={0: (0, 9)}, units={2: "cm"})
    assert (table.target.name, table.columns[0].bounds, table.columns[1].unit) == ("1", (0.0, 9.0), "cm")
    assert Table.from_frame(frame.assign(id=list("xyz")), row_id="id", target=1).row_ids == ("x", "y", "z")
    by_number = frame.assign(**{"3": list("xyz")}).set_axis([0, 1, 2, 3], axis=1)
    assert Table.from_frame(by_number, row_id=3, target=1).row_ids == ("x", "y", "z")


def test_an_index_does_not_count_among_the_columns():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"], index=["x"])
    with pytest.raises(DataError, match=r"got 'a' more than once\. Rename"):
        Table.from_frame(frame)


def test_an_index_of_days_names_rows_by_the_day():
    days = pd.to_datetime(["2024-02-28", "2024-02-29"])
    assert Table.from_frame(pd.DataFrame({"a": [1, 2]}, index=days)).row_ids == ("2024-02-28", "2024-02-29")
    hours = days + pd.Timedelta(hours=7)
    assert Table.from_frame(pd.DataFrame({"a": [1, 2]}, index=hours)).row_ids[0] == "2024-02-28T07:00:00"


def test_an_index_is_not_offered_as_the_target():
    frame = pd.DataFrame({"a": [1, 2], "b": [0, 1]}, index=["x", "y"])
    with pytest.raises(DataError, match=r"target names the column 'c', which .* The columns are 'a', 'b'\."):
        Table.from_frame(frame, target="c")
