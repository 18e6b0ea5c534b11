"""Whole campaigns are copied exactly: out of stores that are in use, between files, servers and text."""

import gzip
import json
import sqlite3
from dataclasses import replace

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.maintenance import backup, check_campaign, dump, load, restore
from cellworth.campaign.stores import MemoryStore, open_store
from cellworth.errors import ConflictError, DataError
from tests.campaign.campaigns import Clock, answers_to, begin, same_state


def worked(store, **settings):
    """Return a campaign with events of several kinds, some with keys and odd names."""
    campaign = begin(store=store, strategy="random", **settings)
    batch = campaign.ask(count=5, who="Ähre 稲 🌾", key="first")
    campaign.tell(answers_to(batch[:3]), who="laboratory", key="second")
    campaign.refuse(batch[3:4], "lost")
    campaign.extend({"new row": {"age": 50}})
    return campaign


@pytest.fixture
def study(sqlite_url, opened):
    """A campaign whose store stays open: its newest answers are in the log next to the file."""
    return worked(opened(sqlite_url))


def test_a_backup_of_a_store_in_use_has_every_answer(study, sqlite_url, tmp_path, opened):
    """The file alone, copied as it is, does not."""
    [copied] = backup(sqlite_url, tmp_path / "backup.db")
    assert (copied.events, copied.problem) == (study.number, None)
    assert same_state(Campaign.open(opened(tmp_path / "backup.db"), clock=Clock()), study)
    assert not list(tmp_path.glob(".*"))
    alone = tmp_path / "alone.db"
    alone.write_bytes((tmp_path / "study.db").read_bytes())
    with sqlite3.connect(alone) as connection:
        [[tables]] = connection.execute("SELECT count(*) FROM cellworth_event")
    assert tables < study.number
    with pytest.raises(DataError, match="already exists, and nothing is overwritten"):
        backup(sqlite_url, tmp_path / "backup.db")


def test_a_campaign_moves_from_file_to_server_and_back(study, sqlite_url, postgresql_url, tmp_path, opened):
    [there] = restore(sqlite_url, postgresql_url)
    moved = Campaign.open(opened(postgresql_url), clock=Clock())
    assert same_state(moved, study)
    moved.ask(count=2)
    [back] = backup(postgresql_url, tmp_path / "back.db")
    assert back.events == there.events + 1
    assert same_state(Campaign.open(opened(tmp_path / "back.db"), clock=Clock()), moved)
    with pytest.raises(ConflictError, match="already has 'study', and nothing is overwritten"):
        restore(sqlite_url, postgresql_url)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_plain_text_holds_a_whole_campaign(study, tmp_path, opened, ending):
    path = tmp_path / f"study.{ending}"
    done = dump(opened(tmp_path / "study.db"), "study", path)
    store = MemoryStore()
    assert load(path, store) == done
    assert same_state(Campaign.open(store, clock=Clock()), study)
    assert load(path, store, name="again").fingerprint == done.fingerprint
    with pytest.raises(ConflictError, match="already exists"):
        load(path, store)
    text = gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0]["settings"]["budget"] == 50.0
    assert [line["kind"] for line in lines[1:-1]] == ["asked", "told", "refused", "extended"]


def test_a_damaged_text_is_refused_as_a_whole(study, tmp_path, opened):
    path, bad = tmp_path / "study.jsonl", tmp_path / "bad.jsonl"
    dump(opened(tmp_path / "study.db"), "study", path)
    lines = path.read_text().splitlines(keepends=True)
    damaged = [
        lines[:-1],
        lines[:-2] + lines[-1:],
        [lines[0], *lines[2:]],
        [lines[0], lines[2], lines[1], *lines[3:]],
        [lines[0].replace("50.0", "60.0"), *lines[1:]],
        [*lines[:2], lines[2].replace("laboratory", "somebody"), *lines[3:]],
        [*lines[:2], lines[2][:50], *lines[3:]],
        ["{}\n", *lines[1:]],
        ["age,dose\n"],
        [],
    ]
    store = MemoryStore()
    for each in damaged:
        bad.write_text("".join(each))
        with pytest.raises(DataError, match=r"bad.jsonl.* is damaged"):
            load(bad, store)
    assert store.names() == []
    bad.write_bytes(gzip.compress(path.read_bytes())[:300])
    with pytest.raises(DataError):
        load(bad.rename(tmp_path / "bad.jsonl.gz"), store)


def test_the_intact_beginning_of_a_damaged_campaign_can_be_kept(study, sqlite_url, tmp_path, opened):
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("UPDATE cellworth_event SET data = replace(data, 'lost', 'list') WHERE number = 3")
    found = check_campaign(opened(sqlite_url), "study")
    assert found.events == 2
    assert "Event 3 of campaign 'study' is damaged" in found.problem
    with pytest.raises(DataError, match="Event 3"):
        backup(sqlite_url, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()
    [kept] = backup(sqlite_url, tmp_path / "kept.db", until=2)
    assert (kept.events, kept.fingerprint) == (2, found.fingerprint)
    assert Campaign.open(opened(tmp_path / "kept.db"), clock=Clock()).spent == study.spent


def test_the_fingerprint_is_the_same_in_every_store(study, sqlite_url, postgresql_url, tmp_path, opened):
    restore(sqlite_url, postgresql_url)
    store = MemoryStore()
    dump(opened(postgresql_url), "study", tmp_path / "study.jsonl")
    load(tmp_path / "study.jsonl", store)
    stores = opened(sqlite_url), opened(postgresql_url), store
    assert len({check_campaign(each, "study") for each in stores}) == 1


def test_an_event_that_does_not_fit_is_found(study, sqlite_url, opened):
    """Its checksum is right, as if a faulty program had written it."""
    store = open_store(sqlite_url)
    [event] = store.events("study", 1, 1)
    wrong = {**event.data, "cells": [["nobody", "age", 50, 1.0]]}
    after = study.number
    store.append("study", after, [replace(event, number=after + 1, key=None, data=wrong)])
    found = check_campaign(store, "study")
    store.close()
    assert found.events == after
    assert f"event {after + 1} (told) does not fit the table" in found.problem
