"""Check, back up, restore, dump and load, from the shell."""

import sqlite3
from pathlib import Path

from cellworth.campaign import Campaign


def failed(quick, code, *words):
    done = quick(*words)
    assert done.code == code
    return done


def test_a_backup_and_a_text_bring_everything_back(quick):
    quick.asked()
    quick.fill()
    quick("tell", "asks.csv")
    checked = quick("check").out
    assert checked.startswith("study: 2 events, intact; fingerprint ")
    fingerprint = checked.split()[-1]
    done = quick("backup", "kept.db").out
    assert done == f"study: 2 events copied to kept.db; fingerprint {fingerprint}\n"
    assert quick("dump", "study.jsonl.gz", "--json").json["campaigns"][0]["fingerprint"] == fingerprint
    quick("restore", "kept.db", "--store", "one.db")
    quick("load", "study.jsonl.gz", "--store", "one.db", "--name", "again")
    assert quick("check", "--store", "one.db").out.count(fingerprint) == 2
    with Campaign.open("one.db", "again") as again, Campaign.open("study.db") as campaign:
        assert again.table.equals(campaign.table)
    refused = failed(quick, 4, "restore", "kept.db")
    assert "already has 'study', and nothing is overwritten" in refused.err
    assert "there is no campaign here" in failed(quick, 3, "restore", "nowhere.db").err
    assert "already exists" in failed(quick, 3, "backup", "kept.db").err


def test_check_says_what_is_wrong_and_how_to_go_on(quick):
    quick.asked()
    quick.fill()
    quick("tell", "asks.csv")
    with sqlite3.connect("study.db") as connection:
        connection.execute("DELETE FROM cellworth_event WHERE number = 2")
    done = failed(quick, 3, "check")
    assert "damaged from event 2 on. Campaign 'study' is damaged: event 2 is missing." in done.out
    quick(*done.out.split("cellworth ")[-1].replace("'", "").split())
    assert "1 event, intact" in quick("check", "--store", "intact.db").out
    assert "event 2 is missing" in failed(quick, 3, "status").err
    assert Path("study.db").exists()
