"""Files of a table are compared by their content, and read only where that is needed."""

import os
import shutil

import numpy as np
import pytest

from cellworth.blocks import file_content
from cellworth.blocks.file_content import TableContent

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "big"
    (place / "sub").mkdir(parents=True)
    for name in ("a", "sub/b"):
        pq.write_table(pa.table({"x": np.arange(20.0)}), place / f"{name}.parquet")
    (place / "notes.txt").write_text("not of the table")
    return place


def test_a_copy_has_the_same_content(folder, tmp_path):
    content = TableContent.of(folder)
    assert [file.name for file in content.files] == ["a.parquet", "sub/b.parquet"]
    assert content.differs_at(folder) is None
    shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copyfile)
    os.utime(tmp_path / "copy" / "a.parquet", (1, 1))
    assert content.differs_at(tmp_path / "copy", thorough=True) is None
    assert TableContent.of(tmp_path / "copy").digest == content.digest
    assert TableContent.from_json(content.to_json()) == content


def test_what_differs_is_named(folder, tmp_path):
    content = TableContent.of(folder)
    assert "no such file" in content.differs_at(tmp_path / "nowhere")
    part = folder / "a.parquet"
    before, times = part.read_bytes(), (part.stat().st_atime_ns, part.stat().st_mtime_ns)
    part.write_bytes(before[:50] + bytes([before[50] ^ 1]) + before[51:])
    assert content.differs_at(folder) == "'a.parquet' has another content"
    os.utime(part, ns=times)
    assert content.differs_at(folder) is None  # as long as nobody looks closely
    assert content.differs_at(folder, thorough=True) == "'a.parquet' has another content"
    part.write_bytes(before + b"more")
    assert "bytes, not" in content.differs_at(folder)
    part.unlink()
    assert content.differs_at(folder) == "1 file missing, such as 'a.parquet'"
    part.write_bytes(before)
    (folder / "c.parquet").write_bytes(before)
    assert content.differs_at(folder) == "1 file new, such as 'c.parquet'"


def test_files_that_look_the_same_are_not_read(folder, monkeypatch):
    content = TableContent.of(folder)
    monkeypatch.setattr(file_content, "_content", lambda *_: pytest.fail("a file was read"))
    assert content.differs_at(folder) is None


def test_a_single_file_may_be_renamed(folder):
    content = TableContent.of(folder / "a.parquet")
    (folder / "a.parquet").rename(folder / "z.parquet")
    assert content.differs_at(folder / "z.parquet") is None
