"""A lock in a file: one at a time, gone with its holder, and no file is left behind."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from cellworth.campaign.stores.sqlite import take_lock

HOLD = """
import sys, time
from pathlib import Path
from cellworth.campaign.stores.sqlite import take_lock
release = take_lock(Path(sys.argv[1]), 0o600)
print("held" if release else "taken", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db-turn"


def test_one_at_a_time_and_no_file_is_left(path):
    release = take_lock(path, 0o600)
    assert take_lock(path, 0o600) is None
    release()
    assert not path.exists()
    again = take_lock(path, 0o600)
    assert again is not None
    again()


def test_a_killed_holder_locks_nobody_out(path):
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert take_lock(path, 0o600) is None
        holder.kill()
    assert path.exists()  # it could not remove it
    take_lock(path, 0o600)()
    assert not path.exists()


def test_who_may_write_the_store_may_lock_it(path):
    before = os.umask(0o077)
    try:
        release = take_lock(path, 0o660)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    release()


def test_threads_that_take_and_release_it_never_hold_it_together(path):
    """A lock on a file that its holder has just removed does not count."""
    inside, most, taken = [], [], []

    def work():
        for _ in range(300):
            if (release := take_lock(path, 0o600)) is not None:
                inside.append(1)
                most.append(len(inside))
                taken.append(1)
                inside.pop()
                release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) >= 300  # somebody always gets on
    assert max(most) == 1


def test_where_no_file_can_be_made_it_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        take_lock(tmp_path / "absent" / "turn", 0o600)
