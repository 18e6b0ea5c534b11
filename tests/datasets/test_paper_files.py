import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.datasets.fetch_paper import cache_folder
from cellworth.datasets.paper_files import (
    FILES,
    Fingerprint,
    dos_lines,
    image_table,
    pack,
    unix_lines,
    unpack,
)


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_fingerprints_are_those_of_the_files(file, paper_folder):
    raw = (paper_folder / file.name).read_bytes()
    assert Fingerprint.of(raw) == file.kept
    assert Fingerprint.of(unpack(file.name, raw)) == file.content
    assert unpack(file.name, pack(file.name, raw)) == raw


def test_the_image_table_is_made_to_the_byte(paper_folder):
    rows = gzip.decompress((paper_folder / "segmentation_2310.csv.gz").read_bytes())
    image = next(file for file in FILES if file.name == "image_2086x18.csv.gz")
    made = image_table(rows)
    assert made == gzip.decompress((paper_folder / image.name).read_bytes())
    assert made.count(b"\n") == 1 + 2086
    assert image_table(b";;; heading\r\n\r\n" + rows.replace(b"\n", b"\r\n")) == made


TEXT = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1).map(str.encode)


@settings(max_examples=100)
@given(
    lines=st.lists(TEXT, max_size=6),
    gaps=st.lists(
        st.sampled_from([b"\n", b"\r\n", b"\r", b" \n", b"\n\n", b"\r\n\t\r\n"]), min_size=6, max_size=6
    ),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_line_ends_do_not_matter(lines, gaps, mark):
    raw = mark + b"".join(line + gap for line, gap in zip(lines, gaps, strict=False))
    assert unix_lines(raw) == b"".join(line + b"\n" for line in lines)
    assert dos_lines(raw) == b"".join(line + b"\r\n" for line in lines)
    assert unix_lines(unix_lines(raw)) == unix_lines(raw)


def test_each_platform_has_its_cache(monkeypatch):
    home = Path.home()
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder("linux") == Path("/elsewhere/cellworth")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache_folder("linux") == home / ".cache" / "cellworth"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("linux") == home / ".cache" / "cellworth"
    assert cache_folder("darwin") == home / "Library" / "Caches" / "cellworth"
    monkeypatch.setenv("LOCALAPPDATA", "/users/me/local")
    assert cache_folder("win32") == Path("/users/me/local/cellworth/Cache")
    monkeypatch.delenv("LOCALAPPDATA")
    assert cache_folder("win32") == home / "AppData" / "Local" / "cellworth" / "Cache"
