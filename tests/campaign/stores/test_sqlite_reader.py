"""A file read without SQLAlchemy says the same as the whole store, and becomes it with the first write."""

import os
import shutil
import sqlite3
import subprocess
import threading

import pytest

from cellworth.campaign.stores.sqlite_reader import SqliteReader
from cellworth.errors import DataError
from cellworth.testing.store_contract import check_store, make_events, make_record

CORRUPT = "UPDATE cellworth_campaign SET content = x'00' WHERE name = '{}'"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def test_it_keeps_the_contract(path, opened):
    check_store(lambda: opened(path, reading=True), corrupt=lambda name: change(path, CORRUPT.format(name)))


def test_it_reads_what_the_whole_store_wrote(path, opened):
    whole = opened(path)
    whole.create(make_record("study", b"table"))
    whole.create(make_record("other"))
    whole.append("study", 0, make_events(0, "a", None, "c"))
    whole.save_cache("study", 2, b"cache")
    whole.save_snapshot("study", 3, b"snapshot")
    reader = opened(path, reading=True)
    assert isinstance(reader, SqliteReader)
    for call in (
        lambda store: store.names(),
        lambda store: store.record("study"),
        lambda store: store.events("study"),
        lambda store: store.events("study", 1, 1),
        lambda store: store.number_of("study", "c"),
        lambda store: store.number_of("study", "d"),
        lambda store: store.load_cache("study", 3),
        lambda store: store.load_cache("study", 1),
        lambda store: store.load_snapshot("study", 3),
    ):
        assert call(reader) == call(whole)
    whole.append("study", 3, make_events(3, "d"))
    assert reader.number_of("study", "d") == 4


def test_reading_writes_nothing(path, opened):
    reader = opened(path, reading=True)
    assert reader.names() == []
    with pytest.raises(DataError, match=r"no campaign 'study' in .*It has no campaigns yet"):
        reader.record("study")
    assert not path.exists()


def test_after_the_first_write_it_sees_its_own_transaction(path, opened):
    store = opened(path, reading=True)
    store.create(make_record("study"))
    with store.alone("study"):
        store.append("study", 0, make_events(0, "a"))
        assert store.number_of("study", "a") == 1
        assert opened(path, reading=True).events("study") == []
    assert store.number_of("study", "a") == 1


def test_it_writes_to_the_file_that_was_opened(path, opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = opened("sqlite:///study.sqlite", reading=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    store.create(make_record("study"))
    assert (tmp_path / "study.sqlite").exists()
    assert store.names() == ["study"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"not a database at all" * 50, "not a SQLite database, or is damaged"), (b"", "not a cellworth store")],
)
def test_another_file_is_left_as_it_is(path, opened, content, message):
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        opened(path, reading=True)
    assert path.read_bytes() == content


def test_text_that_is_not_utf8_is_damage(path, opened):
    whole = opened(path)
    whole.create(make_record("study"))
    whole.append("study", 0, make_events(0, "a"))
    whole.close()
    change(path, "UPDATE cellworth_event SET who = CAST(x'ff' AS TEXT)")
    for reading in (True, False):
        with pytest.raises(DataError, match=r"Event 1 .*checksum"):
            opened(path, reading=reading).events("study")


def test_a_copy_that_cannot_be_written_is_read(small_disk, path, opened):
    whole = opened(path)
    whole.create(make_record("study"))
    whole.append("study", 0, make_events(0, "a", "b"))
    for file in path.parent.glob("study.db*"):  # with the log that is still open
        if not file.name.endswith("-shm"):
            shutil.copy(file, small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    copy = opened(small_disk / "study.db", reading=True)
    assert copy.events("study") == make_events(0, "a", "b")
    with pytest.raises(DataError, match=r"cannot be written.*permissions"):
        copy.append("study", 2, make_events(2, "c"))
    assert copy.names() == ["study"]


def test_several_threads_may_read_at_once(path, opened):
    whole = opened(path)
    whole.create(make_record("study"))
    whole.append("study", 0, make_events(0, *map(str, range(50))))
    reader, found = opened(path, reading=True), []
    threads = [threading.Thread(target=lambda: found.append(len(reader.events("study")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [50] * 8
