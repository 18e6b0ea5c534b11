import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.datasets import http_download as module
from cellworth.datasets.http_download import Patience, download
from cellworth.errors import DownloadError, ParameterError
from tests.datasets.web_server import Site, serving

DATA = bytes(range(256)) * 1000
HURRIED = Patience(timeout=5, attempts=3, pause=0)


@pytest.fixture
def site():
    with serving(Site({"file": DATA})) as site:
        yield site


@pytest.fixture
def part(tmp_path):
    return tmp_path / "file.part"


def get(site, part, **keywords):
    return download(f"{site.address}/file", part, patience=HURRIED, **keywords)


def test_a_file_comes_whole_and_leaves_nothing_behind(site, part):
    calls = []
    assert get(site, part, report=lambda done, total: calls.append((done, total))) == (DATA, False)
    assert not part.exists()
    assert calls[-1] == (len(DATA), len(DATA))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_a_cut_connection_is_resumed_where_it_broke(site, part):
    site.cuts["file"] = [1000, 500]
    assert get(site, part).data == DATA
    assert site.asked == [("file", None), ("file", "bytes=1000-"), ("file", "bytes=1500-")]


def test_a_server_without_ranges_sends_all_of_it_again(site, part):
    site.ranges = False
    site.cuts["file"] = [1000]
    assert get(site, part).data == DATA
    assert site.asked == [("file", None), ("file", "bytes=1000-")]


@settings(max_examples=25)
@given(
    data=st.binary(min_size=1, max_size=300),
    cuts=st.lists(st.integers(0, 100), max_size=4),
    ranges=st.booleans(),
)
def test_any_cuts_give_the_same_bytes(tmp_path_factory, data, cuts, ranges):
    part = tmp_path_factory.mktemp("cuts") / "part"
    with serving(Site({"file": data}, ranges=ranges)) as site:
        site.cuts["file"] = list(cuts)
        patience = Patience(timeout=5, attempts=len(cuts) + 1, pause=0)
        assert download(f"{site.address}/file", part, patience=patience).data == data
    assert not part.exists()


def test_what_came_is_kept_for_the_next_call(site, part):
    site.cuts["file"] = [100, 100, 100]
    with pytest.raises(DownloadError, match=r"in 3 attempts.*closed after 300 of 256,000 bytes") as failed:
        get(site, part)
    assert failed.value.reachable
    assert part.read_bytes() == DATA[:300]
    assert get(site, part) == (DATA, True)
    assert site.asked[-1] == ("file", "bytes=300-")


def test_a_part_that_is_complete_needs_no_more(site, part):
    part.write_bytes(DATA)
    assert get(site, part) == (DATA, True)
    assert site.asked == [("file", f"bytes={len(DATA)}-")]


def test_a_part_longer_than_the_file_is_thrown_away(site, part):
    part.write_bytes(DATA + b"more")
    assert get(site, part).data == DATA
    assert site.asked[-1] == ("file", None)


def test_a_missing_file_is_refused_at_once(site, part):
    with pytest.raises(DownloadError, match=r"/none: expected a file, got 404 Not Found") as failed:
        download(f"{site.address}/none", part, patience=HURRIED)
    assert failed.value.reachable
    assert site.paths() == ["none"]
    assert not part.exists()


def test_a_busy_server_is_asked_again(site, part):
    site.states["file"] = [503, 500]
    assert get(site, part).data == DATA
    site.states["file"] = [503, 503, 503]
    with pytest.raises(DownloadError, match="503 Service Unavailable") as failed:
        get(site, part)
    assert failed.value.reachable


def test_pauses_double(site, part, monkeypatch):
    pauses = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    site.states["file"] = [503, 503, 503]
    download(f"{site.address}/file", part, patience=Patience(timeout=5, attempts=4, pause=0.5))
    assert pauses == [0.5, 1.0, 2.0]


def test_no_server_is_told_from_a_server_that_refuses(part):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DownloadError, match="Connection refused") as failed:
        download(f"{address}/file", part, patience=HURRIED)
    assert not failed.value.reachable


def test_a_silent_server_runs_into_the_timeout(part):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(DownloadError, match="timed out"):
            download(url, part, patience=Patience(timeout=0.05, attempts=2, pause=0))


def test_a_file_that_is_too_big_is_refused(site, part, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", len(DATA) - 1)
    with pytest.raises(DownloadError, match="expected at most 255,999 bytes"):
        get(site, part)
    assert not part.exists()


@pytest.mark.parametrize("url", ["file:///etc/hosts", "archive.ics.uci.edu/x", "ftp://host/x", "http:///x"])
def test_only_addresses_of_the_web_are_taken(url, part):
    with pytest.raises(ParameterError, match=r"http:// or https://.*got"):
        download(url, part)
