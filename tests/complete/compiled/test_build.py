import shutil

import pytest

from cellworth.complete.compiled import build as build_module
from tests.conftest import need


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Return a copy of the sources to build from."""
    for name in build_module.SOURCES:
        shutil.copy(build_module.HERE / name, tmp_path)
    monkeypatch.setattr(build_module, "HERE", tmp_path)
    return tmp_path


def test_every_source_counts_in_the_name():
    in_folder = {path.name for path in build_module.HERE.glob("*.[ch]")}
    assert in_folder == set(build_module.SOURCES)


def test_without_a_compiler_nothing_is_built(sources, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert build_module.build() is None
    assert not list(sources.glob("*.so"))


def test_a_compiler_that_fails_leaves_nothing_behind(sources, monkeypatch):
    monkeypatch.setenv("CC", "false")
    assert build_module.build() is None
    assert {path.name for path in sources.iterdir()} == set(build_module.SOURCES)


@pytest.mark.slow
def test_a_compiler_builds_and_replaces_a_stale_library(sources):
    need(shutil.which("cc") is not None, "a C compiler: cc")
    (sources / "kernels-linux-x86_64-000000000000.so").write_bytes(b"of other sources")
    built = build_module.build()
    assert built == sources / build_module.library_name()
    assert list(sources.glob("*.so")) == [built]
