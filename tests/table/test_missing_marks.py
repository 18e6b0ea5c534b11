"""Which cells are holes."""

import pytest

from cellworth.table import Table


def read(tmp_path, text, name="t.csv", **keywords):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Table.read(path, **keywords)


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
