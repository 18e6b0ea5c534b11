"""Slow and silent clients are let go, and too many are not taken; others are served meanwhile."""

import contextlib
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
import uvicorn

from cellworth.web import create_app
from cellworth.web.server import ConnectionLimits, WebServer, watched
from tests.campaign.campaigns import make_table
from tests.web.servers import begin, until

LIMITS = ConnectionLimits(head=1.0, silence=1.0, body=3.0, connections=30)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """A server in a thread, with narrow limits."""
    store = f"sqlite:///{tmp_path_factory.mktemp('slow')}/study.db"
    begin(store, make_table(), strategy="random")
    app = create_app(store)
    config = uvicorn.Config(app, port=0, log_level="warning", http=watched(LIMITS), lifespan="on")
    server = WebServer(config, app)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


def is_ended(connection):
    """Return whether the other side has ended a connection, by now."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1000) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def wait_until_ended(connections, seconds=8.0):
    end = time.monotonic() + seconds
    left = list(connections)
    while left and time.monotonic() < end:
        left = [each for each in left if not is_ended(each)]
    return not left


HEAD = b"POST /api/v1/campaigns/study/tell HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HT", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{", HEAD + b"Content-Length: 9\r\n\r\n"],
)
@pytest.mark.service
def test_half_a_request_is_not_waited_for(port, begun):
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(5)]
        for line in lines:
            line.sendall(begun)
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        assert wait_until_ended(lines)


@pytest.mark.service
def test_a_body_in_drops_has_an_end_and_a_steady_one_is_taken(port):
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
        begun = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - begun < 12 and not is_ended(line):
                line.sendall(b" ")
                time.sleep(0.3)
        assert time.monotonic() - begun < 10

    def steady():
        for piece in (b'{"ans', b'wers"', b": [", b"]}"):
            time.sleep(0.5)
            yield piece

    url = f"http://127.0.0.1:{port}/api/v1/campaigns/study/tell"
    sent = httpx.post(url, content=steady(), headers={"Content-Type": "application/json"})
    assert sent.json() == {"new": 0}


@pytest.mark.service
def test_there_are_not_more_than_so_many(port, caplog):
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(60)]
        until(lambda: sum(map(is_ended, lines)) >= 30)
        assert wait_until_ended(lines)  # the others have said nothing
    assert len([each for each in caplog.records if "connections" in each.message]) == 1
    assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200


@pytest.mark.service
def test_a_crowd_does_not_use_up_the_files(tmp_path):
    """260 silent clients at once, where a process may open 200 files: all but the first hundred are ended."""
    store = f"sqlite:///{tmp_path}/study.db"
    begin(store, make_table(), strategy="random")
    words = f"ulimit -n 200; exec {sys.executable} -m cellworth serve --store {store} --port 0"
    process = subprocess.Popen(
        ["bash", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with process, contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        lines = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(260)]
        until(lambda: sum(map(is_ended, lines)) >= 160)
        process.terminate()
        said = process.stdout.read()
    assert "Too many open files" not in said
    assert said.count("more than 100 connections") == 1


@pytest.mark.service
def test_who_listens_quietly_stays(port):
    """Server-sent events wait for news for longer than a silent client is waited for."""
    with httpx.stream("GET", f"http://127.0.0.1:{port}/campaigns/study/events", timeout=10) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        time.sleep(4 * LIMITS.silence)
        httpx.post(
            f"http://127.0.0.1:{port}/api/v1/campaigns/study/rows", json={"rows": {"new": {}}}
        ).raise_for_status()
        assert any('"number": 1' in line for line in lines if line.startswith("data"))


def test_half_of_the_files_are_for_connections():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
        assert ConnectionLimits.here().connections == 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert 8 <= ConnectionLimits.here().connections <= ConnectionLimits.connections
