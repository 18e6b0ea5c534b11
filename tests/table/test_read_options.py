"""How a table was read is remembered, to read more rows the same way."""

import numpy as np
import pytest

from cellworth import Table
from cellworth.table.files import FileBytes
from cellworth.table.read_options import ReadOptions
from cellworth.table.text_file import TextFile

CONTENT = FileBytes("t.csv", b"size;seen\n1,5;26.08.2020\n-9;04.07.2020\n?;04.07.2020\n")


def test_a_table_knows_how_it_was_read():
    file = TextFile(CONTENT, delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    table = Table.read(file, missing=["?", -9])
    assert table.read_options == ReadOptions(("?", -9), ";", ",", "DD.MM.YYYY")
    assert Table.from_arrays([[1.0]]).read_options is None
    assert Table.read(FileBytes("t.csv", b"a\n1\n")).read_options == ReadOptions()


@pytest.mark.parametrize(
    ("missing", "plain"),
    [
        ((), {}),
        ("n/a", {"missing": ["n/a"]}),
        ([np.int64(-9), np.float64(0.5), True], {"missing": [-9, 0.5, True]}),
        ({"size": ["?"], "seen": -1}, {"missing": {"size": ["?"], "seen": [-1]}}),
    ],
)
def test_it_is_stored_as_plain_data(missing, plain):
    how = ReadOptions.of(CONTENT, missing, None)
    assert how.to_json() == plain
    assert ReadOptions.from_json(plain) == how
    marks = plain.get("missing", [])
    assert list(how.marks_of("size")) == (marks["size"] if isinstance(missing, dict) else marks)


def test_marks_and_files():
    how = ReadOptions(("?",), ";", ",", "DD.MM.YYYY")
    assert how.with_marks(["x"]).missing == ("?", "x")
    assert how.with_marks([]) is how
    assert ReadOptions({"a": ("?",)}).with_marks(["x"]).missing == ("x",)
    assert how.file("a.csv").delimiter == ";"
    assert how.file("a.tsv").delimiter is None
    own = TextFile(CONTENT)
    assert how.file(own) is own
