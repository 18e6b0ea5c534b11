"""Files that cannot be read, and files in memory."""

import pytest

from cellworth.errors import DataError
from cellworth.table import Table

GOOD = "id,age,sex,visit,y\na,61,f,2020-01-02,1\nb,,m,2020-05-01,0\nc,44,,,1\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("patient.csv", None, ["no such file", "Did you mean 'patients.csv'?"]),
        ("folder.csv", None, ["directory"]),
        ("patients.ods", b"x", [".csv", ".parquet", "from_frame"]),
        ("patients", b"x", [".csv"]),
        ("patients.csv.gz", b"a,b\n1,2\n", ["gzip"]),
        ("patients.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3", ["gzip"]),
        ("patients.parquet", b"PAR1", ["Parquet"]),
        ("patients.parquet", b"PAR1" + b"\0" * 50 + b"PAR1", ["Parquet"]),
        ("patients.parquet", b"", ["Parquet"]),
    ],
)
def test_paths_that_cannot_be_read(tmp_path, name, content, words):
    (tmp_path / "patients.csv").write_text(GOOD)
    (tmp_path / "folder.csv").mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        Table.read(tmp_path / name)
    for word in [name, *words]:
        assert word in str(caught.value)
