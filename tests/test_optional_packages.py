"""What is not installed is imported only where it is needed, and named with its remedy."""

import subprocess
import sys

import pytest

from cellworth.errors import MissingDependencyError
from cellworth.table import Table


def test_a_missing_package_is_named_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"")
    with pytest.raises(MissingDependencyError, match=r'pip install "cellworth\[parquet\]"'):
        Table.read(path)


def test_tables_of_files_and_arrays_need_no_frame_library(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n,y\n")
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow'])); "
        "from cellworth.table import Table; t = Table.read('t.csv'); t.write('u.csv'); print(t.shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout.strip() == "(2, 2)", run.stderr
