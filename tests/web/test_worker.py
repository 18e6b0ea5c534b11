"""The process that computes: messages in, outcomes out, and its end with its input."""

import os
import subprocess
import sys

import pytest

from cellworth.table.parse_values import Reworded
from cellworth.web.worker import LENGTH, PROGRESS, pack, unpack
from tests.web import jobs
from tests.web.servers import ROOT


@pytest.fixture
def worker(url):
    """A worker on a store with one campaign."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-P", "-m", "cellworth.web.worker"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        process.stdin.write(pack(url))
        yield process
        process.kill()


def outcome(worker, *job):
    worker.stdin.write(pack(job))
    worker.stdin.flush()
    while True:
        message = unpack(worker.stdout.read(*LENGTH.unpack(worker.stdout.read(LENGTH.size))))
        if message[0] != PROGRESS:
            return message


def test_a_message_says_how_long_it_is_and_comes_back():
    message = ("study", jobs.add, (1,), {"other": [2.5, None]})
    packed = pack(message)
    assert LENGTH.unpack(packed[: LENGTH.size]) == (len(packed) - LENGTH.size,)
    assert unpack(packed[LENGTH.size :]) == message


def test_a_number_with_a_comma_comes_back_with_what_was_typed():
    back = unpack(pack(Reworded("131.5", "131,5"))[LENGTH.size :])
    assert (back, back.typed) == ("131.5", "131,5")


def test_jobs_are_done_one_after_the_other_and_errors_have_their_kind(worker):
    assert outcome(worker, "study", jobs.add, (2,), {"other": 3}) == ("done", ("study", 5), 0)
    kind, (pid, niceness, _), _ = outcome(worker, "study", jobs.process, (), {})
    assert (kind, pid, niceness >= 10) == ("done", worker.pid, True)  # what it printed is no outcome
    assert outcome(worker, "study", jobs.conflict, (), {})[:2] == ("ConflictError", "somebody was first")
    assert outcome(worker, "nowhere", jobs.add, (1,), {})[0] == "DataError"
    kind, text, _ = outcome(worker, "study", jobs.fail, (), {})
    assert kind == "failed"
    assert "ZeroDivisionError" in text
    assert outcome(worker, "study", jobs.add, (1,), {})[0] == "done"


def test_it_ends_with_its_input_whatever_it_does(worker):
    worker.stdin.write(pack(("study", jobs.sleep, (600,), {})))
    worker.stdin.close()
    assert worker.wait(60) == 0


def test_it_ends_if_a_job_cannot_be_read_so_that_nobody_waits_for_it(worker):
    worker.stdin.write(LENGTH.pack(7) + b"garbage")
    worker.stdin.flush()
    assert worker.wait(60) == 1
