"""Files pass through the disk, and leave nothing there."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cellworth.errors import DataError
from cellworth.web.sent_files import sent_file


class Worker:
    """Runs jobs at once."""

    async def run(self, name, job, *arguments, **keywords):
        return job(name, *arguments, **keywords)


def write(campaign, path, text, *, times=1):
    """Write a file."""
    Path(path).write_text(f"{campaign}: {text * times}")


def fail(campaign, path):
    """Write a part of a file, and stop."""
    Path(path).write_text("par")
    raise DataError("no more")


def test_a_file_is_sent_with_its_name_and_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    response = asyncio.run(sent_file(Worker(), "study", "table.csv", write, "é", times=3))
    assert len(list(tmp_path.iterdir())) == 1
    got = TestClient(response).get("/")
    assert got.content.decode() == "study: ééé"
    assert got.headers["content-disposition"] == 'attachment; filename="table.csv"'
    assert got.headers["content-type"] == "text/csv; charset=utf-8"
    assert list(tmp_path.iterdir()) == []


def test_a_request_for_an_impossible_part_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for part, status in {"bytes=1-3": 206, "bytes=900-": 416, "bytes=x": 400}.items():
        response = asyncio.run(sent_file(Worker(), "study", "table.csv", write, "abc"))
        assert TestClient(response).get("/", headers={"range": part}).status_code == status
        assert list(tmp_path.iterdir()) == []


def test_what_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DataError, match="no more"):
        asyncio.run(sent_file(Worker(), "study", "table.csv", fail))
    assert list(tmp_path.iterdir()) == []
