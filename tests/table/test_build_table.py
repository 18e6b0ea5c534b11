"""Every file that cannot be used: the message names file, line, row id, column, and what to do."""

import numpy as np
import pytest

from cellworth.errors import DataError
from cellworth.table import Table

GOOD = "id,age,sex,visit,y\na,61,f,2020-01-02,1\nb,,m,2020-05-01,0\nc,44,,,1\n"

FILES = {
    "ragged": (
        "a,b\n1,2\n3\n4,5,6\n",
        {},
        ["line 3", "expected 2 fields", "got 1", "rows: lines 4", "quotes"],
    ),
    "many ragged": ("a,b\n" + "1\n" * 5, {}, ["lines 3, 4, 5 and 1 more"]),
    "same name twice": ("a,b,a\n1,2,3\n", {}, ["'a' more than once", "columns 1, 3", "Rename"]),
    "no name": (
        "a, ,b\n1,2,3\n",
        {},
        ["column 2 of 3 has no name", "header are merged"],
    ),
    "same id twice": ("id,a\nx,1\ny,2\nx,3\n", {"row_id": "id"}, ["'id'", "'x' in lines 2 and 4"]),
    "no id": ("id,a\nx,1\n ,2\n", {"row_id": "id"}, ["'id'", "line 3", "every row needs an id"]),
    "unknown target": (GOOD, {"target": "yy"}, ["target names", "'yy'", "Did you mean 'y'?"]),
    "unknown id": (GOOD, {"row_id": "idd"}, ["row_id names", "Did you mean 'id'?"]),
    "both": (GOOD, {"row_id": "y", "target": "y"}, ["both the target and the row ids"]),
    "target is empty": ("a,y\n1,\n2,\n", {"target": "y"}, ["'y'", "only holes", "fill in some labels"]),
    "one class": ("a,y\n1,1\n2,1\n", {"target": "y"}, ["'y'", "two different labels", "only 1"]),
    "empty column": ("a,b\n1,\n2,\n", {}, ["'b'", "only holes", "Leave the column out"]),
    "infinite": ("a\n1\ninf\n", {}, ["'a'", "row '1' (line 3)", "'inf'", "missing="]),
    "too large to be finite": ("a\n1\n1e999\n", {}, ["'a'", "line 3", "finite"]),
    "text among numbers": (
        "id,age\na,1\nb,2\nc,n.k.\nd,4\n",
        {"row_id": "id"},
        ["'age'", "text in a numeric column", "'n.k.' in row 'c' (line 4)", "missing=['n.k.']", "'category'"],
    ),
    "much text among numbers": (
        "a\n" + "1\n" * 9 + "x\n" * 5,
        {},
        ["'x' in row '9' (line 11)", "and 2 more"],
    ),
    "long text": ("a\n1\n2\n" + "q" * 500 + "\n", {}, ["qqq...' (500 characters)", "missing="]),
    "comma numbers": ("a;b\n1,5;x\n2,5;y\n", {"delimiter": ";"}, ["'a'", "'1,5' in row '0'", "decimal=','"]),
    "names": ("a,b\n" + "".join(f"n{i},1\n" for i in range(300)), {}, ["'a'", "300", "row_id='a'", "kinds="]),
    "bad date": ("d\n2020-01-01\n2020-02-30\n", {}, ["'d'", "'2020-02-30' in row '1' (line 3)", "dates"]),
    "no date": ("d\n2020-01-01\nx\n", {"kinds": {"d": "date"}}, ["'d'", "'x' in row '1' (line 3)"]),
    "no integer": (
        "a\n1\n1.5\n",
        {"kinds": {"a": "integer"}},
        ["'a'", "1.5 in row '1' (line 3)", "'number'"],
    ),
    "no number": ("a\n1\nx\n", {"kinds": {"a": "number"}}, ["'a'", "'x' in row '1' (line 3)"]),
    "no boolean": (
        "a\n1\n2\n",
        {"kinds": {"a": "boolean"}},
        ["'a'", "'2' in row '1' (line 3)", "true or false"],
    ),
    "large integer": ("a\n1\n9007199254740993\n", {}, ["'a'", "row '1' (line 3)", "exactly", "row_id='a'"]),
    "wrong encoding": (
        b"a,b\n1,caf\xe9\n",
        {"encoding": "utf-8"},
        ["line 2", "byte offset 9", "0xe9", "encoding='latin-1'"],
    ),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), {"encoding": "utf-8"}, ["UTF-16", "encoding='utf-16'"]),
    "cut utf-16": (b"\xff\xfea", {"encoding": "utf-16"}, ["utf-16"]),
    "empty": (b"", {}, ["empty file"]),
    "blank": (b"\n\n", {}, ["empty file"]),
    "header only": ("a,b\n", {}, ["rows below the column names", "line 1"]),
    "nul": ("a\nx\0y\n", {}, ["line 2", "NUL"]),
    "unclosed quote": ('a,b\n1,"x\n2,y\n', {}, ["line 2", "quotes"]),
    "text after quote": ('a,b\n1,2\n1,"x"y\n', {}, ["line 3", "quotes"]),
    "long field": ("a\n" + "x" * 200_000 + "\n", {}, ["line 2", "131072"]),
    "other separator": ("a;b\n1;2\n", {}, ["'a;b'", "delimiter=';'"]),
    "only target and id": ("y,id\n1,2\n0,3\n", {"target": "y", "row_id": "id"}, ["besides the target"]),
    "unknown in kinds": (
        GOOD,
        {"kinds": {"agee": "number"}},
        ["kinds names", "'agee'", "Did you mean 'age'?"],
    ),
    "unknown in bounds": (GOOD, {"bounds": {"agee": (0, 1)}}, ["bounds names", "Did you mean 'age'?"]),
    "unknown in categories": (
        GOOD,
        {"categories": {"sx": ["f"]}},
        ["categories names", "Did you mean 'sex'?"],
    ),
    "unknown in missing": (GOOD, {"missing": {"agee": [1]}}, ["missing names", "Did you mean 'age'?"]),
    "unknown in descriptions": (GOOD, {"descriptions": {"agee": "y"}}, ["descriptions names", "'age'?"]),
    "unknown in units": (GOOD, {"units": {"agee": "y"}}, ["units names", "Did you mean 'age'?"]),
    "outside bounds": (
        GOOD,
        {"row_id": "id", "bounds": {"age": (0, 50)}},
        ["'age'", "from 0 to 50", "61 in row 'a' (line 2)", "bounds={'age': (lowest, highest)}"],
    ),
    "outside dates": (
        GOOD,
        {"row_id": "id", "bounds": {"visit": ("2020-02-01", None)}},
        ["'visit'", "from 2020-02-01", "'2020-01-02' in row 'a' (line 2)"],
    ),
    "other category": (
        GOOD,
        {"row_id": "id", "categories": {"sex": ["female", "m"]}},
        ["'sex'", "one of 'female', 'm'", "'f' in row 'a' (line 2)", "categories={'sex': [...]}"],
    ),
    "no order": (GOOD, {"kinds": {"sex": "ordered"}}, ["'sex'", "low to high", "categories={'sex': [...]}"]),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_used(tmp_path, case):
    content, keywords, words = FILES[case]
    path = tmp_path / "patients.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        Table.read(path, **keywords)
    message = str(caught.value)
    assert len(message) < 900
    for word in [str(path), *words]:
        assert word in message


def test_holes_have_the_same_bits_however_they_came():
    odd = np.array([1.0, np.nan, -np.nan, 2.0])
    odd[1:3].view(np.int64)[:] += 1  # other NaN
    given = odd.copy()
    for table in (
        Table.from_arrays(odd[:, None], columns=["a"]),
        Table.from_frame(pytest.importorskip("pandas").DataFrame({"a": odd})),
    ):
        assert set(table.values[table.holes].view(np.int64).tolist()) == {
            int(np.array(np.nan).view(np.int64))
        }
    assert odd.tobytes() == given.tobytes()  # what the user gave is as it was
