"""Real servers for the tests: processes on a free port of this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from cellworth.campaign import Campaign
from cellworth.web.url_paths import segment

ROOT = Path(__file__).parents[2]
LOCAL = "http://127.0.0.1"
OUTSIDE = "http://clinic.example"


def begin(store, table, name="study", **keywords):
    """Begin a campaign and let go of it."""
    Campaign.create(table, store=store, name=name, **keywords).close()


class Server:
    """``cellworth serve`` as a process; jobs of the tests can be found by its worker.

    If it is to be ``quick``, its worker is that of `tests.web.quick`.
    """

    def __init__(self, store, *words, quick=False):
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
        module = "tests.web.quick" if quick else "cellworth"
        command = [sys.executable, "-m", module, "serve", "--store", store, "--port", "0", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        first = self.process.stdout.readline()
        assert first.startswith("cellworth serves at http"), first + self.process.stdout.read()
        self.url = first.split()[-1]

    def end(self, how=signal.SIGTERM, within=20):
        """Send a signal and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(within)


@contextlib.contextmanager
def serving(store, *words, quick=False):
    """Serve a store; the server is ended in the end."""
    server = Server(store, *words, quick=quick)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait()
        server.process.stdout.close()


def children(pid):
    """Return the processes that a process has started."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in found.stdout.split()]


def is_there(pid):
    """Say whether a process is there and no zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.strip().startswith("Z")


def until(true, seconds=120):
    """Wait until something is true, or fail: after long enough for a machine with much else to do."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


def api(name, *parts):
    return "/".join([f"/api/v1/campaigns/{segment(name)}", *parts])


def problem(response, status):
    """Check that a response is a problem, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status
    assert found["type"].startswith("/problems/")
    assert found["title"]
    assert found["detail"]
    assert found["instance"].startswith("/")
    return found
