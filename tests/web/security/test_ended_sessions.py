"""What was ended stays ended: in memory, in the file, and for other processes."""

import time

import pytest

from cellworth.errors import DataError
from cellworth.web.security.ended_sessions import EndedSessions


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_is_ended_stays_so(tmp_path, on_disk):
    path = tmp_path / "ended" if on_disk else None
    here = EndedSessions(path)
    other = EndedSessions(path) if on_disk else here
    now = time.time()
    assert not here.is_ended("a")
    here.end("a", now + 100)
    here.end_all("token")
    other.end("b", now - 1)  # would have expired anyway
    for each in (here, other, EndedSessions(path) if on_disk else here):
        assert each.is_ended("a")
        assert not each.is_ended("b")
        assert each.began_too_early("token", now - 10)
        assert not each.began_too_early("token", time.time() + 1)
        assert not each.began_too_early("another", now - 10)
    if on_disk:
        assert path.stat().st_mode & 0o077 == 0
        with path.open("ab") as file:
            file.write(b'{"ended": "c", "unt')  # another process is writing
        assert not here.is_ended("c")
        with path.open("ab") as file:
            file.write(f'il": {now + 100}}}\n'.encode())
        assert here.is_ended("c")


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        EndedSessions(tmp_path / "no" / "such" / "folder").end("a", time.time() + 9)
