"""Files of answers are read elsewhere, have a limit, and nobody works for a client who has gone."""

import asyncio
import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from cellworth.errors import ConflictingAnswersError, DataError, WrongAnswersError
from cellworth.table.files import FileBytes
from cellworth.web import file_jobs
from cellworth.web.file_jobs import check_file, check_lines, sent_file, tell_file, while_connected
from tests.campaign.campaigns import VALUES, begin


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_file_has_so_many_lines(end):
    content = b"row,column,value" + end + (b"p1,age,1" + end) * 5
    check_lines(FileBytes("a.csv", content), most=5)
    with pytest.raises(DataError, match=r"a\.csv has 7 lines; a file may have 5\. Split it\."):
        check_lines(FileBytes("a.csv", content + b"p2,age,1" + end), most=5)
    with pytest.raises(DataError, match="may have 5"):
        check_lines(FileBytes("a.csv.gz", gzip.compress(content * 2)), most=5)


def test_what_comes_back_from_the_worker():
    campaign = begin()
    batch = campaign.ask(count=4)
    lines = [f"{each.row},{each.column},{VALUES[each.column]}" for each in batch]
    file = FileBytes("a.csv", "\n".join(["row,column,value", *lines]).encode())
    found = check_file(campaign, file)
    assert (found.new, found.known, found.blank, found.doubts, len(found.listed)) == (4, 0, 0, 0, 4)
    assert tell_file(campaign, file, who="Ann", key="k").new == 4
    assert tell_file(campaign, file, who="Ann", key="k").new == 4  # the same request again
    assert check_file(campaign, file).known == 4
    wrong = FileBytes("a.csv", file.content + b"\nnobody,age,1")
    for job in (check_file, tell_file):
        with pytest.raises(WrongAnswersError, match=r"a\.csv, line 6, column 'row'"):
            file_jobs._given(job(campaign, wrong))
    table = campaign.original
    i = int(np.flatnonzero(~table.holes[:, table.column_index("age")])[0])
    age = table.values[i, table.column_index("age")]
    other = FileBytes("b.csv", f"row,column,value\n{table.row_ids[i]},age,{age + 1:.0f}".encode())
    with pytest.raises(ConflictingAnswersError):
        file_jobs._given(check_file(campaign, other))


def request_of(*messages):
    left = list(messages)

    async def receive():
        if left:
            return left.pop(0)
        return await asyncio.Event().wait()

    return Request({"type": "http"}, receive)


def test_work_ends_when_the_client_has_gone():
    async def scenario():
        work = asyncio.get_running_loop().create_future()
        gone = request_of({"type": "http.request"}, {"type": "http.disconnect"})
        with pytest.raises(HTTPException):
            await asyncio.wait_for(while_connected(gone, work), 10)
        assert work.cancelled()
        return await while_connected(request_of(), asyncio.sleep(0.01, "done"))

    assert asyncio.run(scenario()) == "done"


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
