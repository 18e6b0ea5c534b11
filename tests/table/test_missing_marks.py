"""Which cells are holes."""

import re
import warnings

import pandas as pd
import pytest

from cellworth.errors import MissingMarkWarning, ReadWarning
from cellworth.table import Table

from .tables import read


@pytest.mark.parametrize(
    ("missing", "holes"),
    [
        ((), [0, 0, 0, 0]),
        (["?"], [1, 0, 0, 0]),
        ("?", [1, 0, 0, 0]),
        (["?", -9], [1, 1, 1, 0]),
        (["?", "-9"], [1, 1, 1, 0]),
        ({"a": ["?", -9.0]}, [1, 1, 1, 0]),
        ({"b": ["?"]}, [0, 0, 0, 0]),
    ],
)
def test_marks_of_holes(tmp_path, missing, holes):
    kinds = None if holes[0] else {"a": "category"}
    table = read(tmp_path, "a,b\n?,1\n-9,2\n-9.0,3\n5,4\n", missing=missing, kinds=kinds)
    assert table.holes[:, 0].tolist() == [bool(hole) for hole in holes]
    assert not table.holes[:, 1].any()


def test_marks_apply_before_the_kind_is_found(tmp_path):
    table = read(tmp_path, "a\n1\n-9.0\n2\n", missing=[-9])
    assert table.columns[0].kind == "integer"


USUAL = ["NA", "N/A", "#N/A", "n/a", "NULL", "null", "None", "<NA>"]


@pytest.mark.parametrize("mark", USUAL)
def test_the_marks_of_pandas_are_holes_by_default(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(f"drug,dose\n{mark},1.5\naspirin,{mark}\nibuprofen,2\n")
    table = Table.read(path)
    assert table.holes.tolist() == [[True, False], [False, True], [False, False]]
    assert table.columns[0].categories == ("aspirin", "ibuprofen")
    assert pd.read_csv(path).isna().to_numpy().tolist() == table.holes.tolist()
    named = Table.read(path, categories={"drug": ["aspirin", "ibuprofen", mark]})
    assert not named.holes[:, 0].any()


def test_a_declared_category_is_no_hole():
    frame = pd.DataFrame({"drug": pd.Categorical(["None", "aspirin", None])})
    assert Table.from_frame(frame).holes[:, 0].tolist() == [False, False, True]


@pytest.mark.parametrize("mark", ["?", "unknown", "Unknown", "-", "n.a.", "missing"])
def test_lookalikes_are_categories_with_a_warning_that_names_the_option(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(f"drug\n{mark}\naspirin\nibuprofen\n")
    said = rf"'drug': '{re.escape(mark)}' is read as a category.*missing="
    with pytest.warns(MissingMarkWarning, match=said):
        table = Table.read(path)
    assert mark in table.columns[0].categories
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Table.read(path, missing=[mark]).holes[0, 0]
        Table.read(path, categories={"drug": [mark, "aspirin", "ibuprofen"]})


def test_several_lookalikes_are_named_together():
    texts = [["A"], ["?"], ["unknown"], ["B"], ["A"]]
    with pytest.warns(MissingMarkWarning, match=r"are read as categories.*missing=\['\?', 'unknown'\];"):
        Table.from_arrays(texts, columns=["kind"])


@pytest.mark.parametrize(
    ("mark", "others"),
    [
        (-999, range(20)),
        (99, range(1, 6)),
        (-9, [0.0, 1.0] * 3),
        (-999, range(0, 1001, 50)),
    ],
)
def test_numbers_like_marks_are_warned_of(mark, others):
    frame = pd.DataFrame({"dose": [mark, *others, mark, None]})
    with pytest.warns(
        MissingMarkWarning, match=rf"'dose': {mark}, in row '0' and 1 more, is .*missing=\[{mark}\]"
    ):
        Table.from_frame(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Table.from_frame(frame, missing=[mark]).holes.sum() == 3
        Table.from_frame(frame, bounds={"dose": (-1000, 1000)})


@pytest.mark.parametrize(
    "numbers",
    [
        [9, *range(20)],
        [99, *range(90)],
        [-998, *range(20)],
        [-99, *range(-90, 90)],
        [999, 1, 2, 3, 4],
        [99, *[1] * 9],
    ],
)
def test_numbers_that_may_well_be_values_are_not(numbers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Table.from_frame(pd.DataFrame({"dose": numbers}))


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (";;\n", "line 4 at the end has no value and is read as a row of holes. Delete it if"),
        ("\n;;\n;;\n", "lines 5 to 6 at the end have no values and are read as rows of holes. Delete them"),
    ],
)
def test_lines_of_separators_at_the_end_are_warned_of(tmp_path, end, said):
    path = tmp_path / "t.csv"
    path.write_text("size;y;dose\n1;0;2\n;1;3\n" + end)
    with pytest.warns(ReadWarning, match=said):
        Table.read(path, target="y", delimiter=";")


@pytest.mark.parametrize("last", [";1;", ";;3"])
def test_rows_with_a_label_or_a_value_at_the_end_are_not(tmp_path, last):
    path = tmp_path / "t.csv"
    path.write_text(f"size;y;dose\n1;0;2\n;;\n4;1;3\n{last}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Table.read(path, target="y", delimiter=";")
