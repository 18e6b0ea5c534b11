"""Log, status, export, report and the like work on a copy of a store that cannot be written.

As root, permissions do not bind; so the folder is mounted once more, read-only. Otherwise both the file and
the folder lose their permission to be written.
"""

import os
import shutil
import subprocess

import pytest

from cellworth.campaign import Campaign
from tests.conftest import need


@pytest.fixture(params=["closed", "left open"])
def sealed(request, quick, tmp_path):
    """The path of a read-only copy of a store; one taken while it was open has its newest events in a log."""
    quick.asked(count=4)
    quick.fill(skip=1)
    quick("tell", "asks.csv", "--who", "Ann")
    place, copy = tmp_path / "copy", tmp_path / "sealed"
    place.mkdir()
    with Campaign.open("study.db") as campaign:
        if request.param == "left open":
            campaign.correct("p0", "age", 33, who="Dee")
            shutil.copy("study.db-wal", place)
            assert (place / "study.db-wal").stat().st_size > 0
        shutil.copy("study.db", place)
    if os.geteuid() != 0:
        (place / "study.db").chmod(0o444)
        place.chmod(0o555)
        yield place / "study.db"
        place.chmod(0o755)
        return
    copy.mkdir()
    run = {"capture_output": True, "check": False}
    bound = subprocess.run(["mount", "--bind", str(place), str(copy)], **run).returncode == 0
    need(bound, "the right to mount a folder (root)")
    locked = subprocess.run(["mount", "-o", "remount,bind,ro", str(copy)], **run).returncode == 0
    try:
        need(locked, "the right to mount a folder read-only (root)")
        yield copy / "study.db"
    finally:
        subprocess.run(["umount", "--lazy", str(copy)], check=True)


@pytest.mark.slow
@pytest.mark.usefixtures("linear_model_in_use")
def test_a_read_only_copy_can_be_looked_at(quick, sealed, tmp_path):
    with pytest.raises(OSError, match=r"Read-only|denied"):
        (sealed.parent / "new").touch()
    before = sorted(path.name for path in sealed.parent.iterdir())
    where = ["--store", sealed]
    with Campaign.open("study.db") as campaign:
        kinds = [event.kind for event in campaign.events()]
        text = campaign.table.to_csv()
    shown = quick("log", *where, "--json")
    assert [event["kind"] for event in shown.json["events"]] == kinds
    assert quick("export", *where).out == text
    status = quick("status", *where)
    assert (status.code, status.err) == (0, "")
    assert f"after {len(kinds)} events" in status.out
    assert quick("report", *where, "--out", tmp_path / "report.html").code == 0
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "intact" in quick("check", *where).out
    assert quick("list", *where).code == 0
    assert quick("ask", "--open", *where).code == 0
    assert quick("dump", tmp_path / "copy.jsonl", *where).code == 0
    assert quick("backup", tmp_path / "backup.db", *where).code == 0
    for words in (["ask", "--count", "1"], ["budget", "99"], ["correct", "p0", "age", "44"]):
        done = quick(*words, *where)
        assert (done.code, done.out) == (3, ""), words
        assert "cannot be written" in done.err
    assert sorted(path.name for path in sealed.parent.iterdir()) == before
