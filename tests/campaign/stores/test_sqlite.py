"""What can go wrong with a file: full disks, missing rights, other programs, and being moved."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from cellworth.campaign.stores import StoredEvent, open_store
from cellworth.errors import ConflictError, DataError
from cellworth.testing.store_contract import MOMENT, make_events, make_record

NOBODY = 65534


@contextlib.contextmanager
def without_rights():
    """Be an ordinary user for a while: root may write everywhere."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def pragma(store, name):
    with store._transactions._own_engine().connect() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_every_connection_is_set_up_for_durability(sqlite_url, opened):
    store = opened(sqlite_url, patience=7)
    store.create(make_record("study"))
    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 7000}
    assert {name: pragma(store, name) for name in expected} == expected


def test_a_full_disk_loses_nothing_and_can_be_emptied(small_disk, opened):
    store = opened(small_disk / "study.db")
    store.create(make_record("study"))
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    kept = 0
    with pytest.raises(DataError, match=r"disk of .*study.db is full; nothing was written. Free some space"):  # noqa: PT012
        while True:
            events = [
                StoredEvent(kept + i, MOMENT, "tell", None, None, {"text": os.urandom(4000).hex()})
                for i in (1, 2)
            ]
            store.append("study", kept, events)
            kept += 2
    assert kept > 10
    with pytest.raises(DataError, match="is full"):
        store.create(make_record("large", bytes(2_000_000)))
    for reader in (store, opened(small_disk / "study.db")):
        assert reader.names() == ["study"]
        assert [event.number for event in reader.events("study")] == list(range(1, kept + 1))
    ballast.unlink()
    store.append("study", kept, events)
    assert store.events("study", kept) == events


def test_a_disk_that_is_full_from_the_beginning(small_disk, opened):
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))
    store = opened(small_disk / "study.db")
    with pytest.raises(DataError, match="full"):
        store.create(make_record("study"))
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]
    (small_disk / "ballast").unlink()
    store.create(make_record("study"))
    assert opened(small_disk / "study.db").names() == ["study"]


@pytest.mark.parametrize("left_behind", [False, True])
def test_a_disk_that_cannot_be_written_can_be_looked_at(small_disk, tmp_path, opened, left_behind):
    """With and without a log that the last program left beside the file."""
    store = open_store(tmp_path / "study.db")
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "a", "b"))
    if not left_behind:
        store.close()
    for file in tmp_path.glob("study.db*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, small_disk)
    store.close()
    assert len(list(small_disk.iterdir())) == 1 + left_behind
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    copy = opened(small_disk / "study.db")
    assert copy.names() == ["study"]
    assert copy.events("study") == make_events(0, "a", "b")
    for call in (
        lambda: copy.append("study", 2, make_events(2, None)),
        lambda: copy.save_cache("study", 2, b""),
        lambda: opened(small_disk / "other.db").create(make_record("study")),
    ):
        with pytest.raises(DataError, match=r"cannot be written.*permissions"):
            call()
    assert copy.events("study") == make_events(0, "a", "b")


@pytest.fixture
def folder():
    """A folder that every user can reach, as those of pytest are not."""
    folder = Path(tempfile.mkdtemp(prefix="cellworth-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_without_rights(folder, opened, there):
    path = folder / "study.db"
    if there:
        store = open_store(path)
        store.create(make_record("study"))
        store.close()
        path.chmod(0o644)
    folder.chmod(0o555)
    with without_rights():
        store = opened(path)
        assert store.names() == ["study"] * there
        with pytest.raises(DataError, match=r"study.db cannot be written.*permissions"):
            store.create(make_record("other"))
    assert [file.name for file in folder.iterdir()] == ["study.db"] * there


def test_a_new_store_is_for_its_owner_only(folder, opened):
    path = folder / "study.db"
    opened(path).create(make_record("study"))
    assert sorted(file.name for file in folder.iterdir()) == ["study.db", "study.db-shm", "study.db-wal"]
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


def test_a_file_system_without_links(folder, opened, monkeypatch):
    def link(*_):
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", link)
    opened(folder / "study.db").create(make_record("study"))
    assert opened(folder / "study.db").names() == ["study"]


@pytest.mark.parametrize("content", [None, "CREATE TABLE mine (x)", "PRAGMA user_version = 3"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path, opened, content):
    """An empty file and the databases of others do not become stores."""
    path = tmp_path / "study.db"
    path.touch()
    if content is not None:
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute(content)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"study.db is not a cellworth store, and was left as it is"):
        open_store(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["study.db"]


def test_looking_leaves_the_file_as_it_is(tmp_path, opened):
    path = tmp_path / "study.db"
    store = open_store(path)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "a"))
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=DELETE")  # as a tool for backups may leave it
    before = path.read_bytes(), path.stat().st_mtime_ns
    store = open_store(path)
    assert [event.key for event in store.events("study")] == ["a"]
    store.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [file.name for file in tmp_path.iterdir()] == ["study.db"]


def test_a_folder_that_may_not_be_entered(folder):
    (folder / "inner").mkdir()
    folder.chmod(0o600)
    with (
        without_rights(),
        pytest.raises(DataError, match=r"inner/study.db cannot be accessed.*permissions"),
    ):
        open_store(folder / "inner" / "study.db")


def test_a_file_without_rights_can_be_read_and_not_written(folder):
    path = folder / "study.db"
    store = open_store(path)
    store.create(make_record("study"))
    store.close()
    path.chmod(0o444)
    folder.chmod(0o777)
    with without_rights():
        store = open_store(path)
        assert store.names() == ["study"]
        with pytest.raises(DataError, match=r"study.db cannot be written.*permissions"):
            store.append("study", 0, make_events(0, None))
        assert store.events("study") == []
        store.close()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere for the store study.db does not exist. Create it"):
        open_store(tmp_path / "nowhere" / "study.db")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "study.db").mkdir()
    with pytest.raises(DataError, match="got the folder"):
        open_store(tmp_path / "study.db")


def test_another_kind_of_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "study.db"
    path.write_text("age,dose\n" * 1000)
    with pytest.raises(DataError, match="is not a SQLite database"):
        open_store(path)
    assert path.read_text() == "age,dose\n" * 1000


def test_a_writer_that_does_not_let_go_is_reported(sqlite_url, opened):
    store = opened(sqlite_url, patience=0.2)
    store.create(make_record("study"))
    with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.names() == ["study"]
        with pytest.raises(DataError, match=r"locked for 0.2 s; nothing was written"):
            store.append("study", 0, make_events(0, None))
    store.append("study", 0, make_events(0, None))


def test_the_first_to_write_waits_for_a_writer(tmp_path, opened):
    """SQLite itself does not wait when it switches a file to its log."""
    path = tmp_path / "study.db"
    store = open_store(path)
    store.create(make_record("study"))
    store.close()
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("PRAGMA journal_mode=DELETE")
    other.execute("BEGIN IMMEDIATE")
    with contextlib.closing(other):
        with pytest.raises(DataError, match=r"locked for 0.1 s"):
            opened(path, patience=0.1).append("study", 0, make_events(0, None))
        release = threading.Timer(0.3, other.execute, args=("COMMIT",))
        release.start()
        opened(path).append("study", 0, make_events(0, None))
        release.join()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_moved_is_not_written(tmp_path, opened, replaced):
    """It would take the answers, and nobody would find them again."""
    path = tmp_path / "study.db"
    store = opened(path)
    store.create(make_record("study"))
    path.rename(tmp_path / "moved.db")
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(DataError, match="moved, removed or replaced"):
        store.append("study", 0, make_events(0, None))
    path.unlink(missing_ok=True)
    (tmp_path / "moved.db").rename(path)
    store.append("study", 0, make_events(0, None))


def test_threads_share_a_store(sqlite_url, opened):
    store = opened(sqlite_url)
    store.create(make_record("study"))

    def write(thread):
        done = 0
        while done < 20:
            after = len(store.events("study"))
            with contextlib.suppress(ConflictError):
                store.append("study", after, make_events(after, f"{thread} {done}"))
                done += 1

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = {event.key for event in store.events("study")}
    assert keys == {f"{thread} {done}" for thread in range(4) for done in range(20)}
