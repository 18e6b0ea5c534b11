"""Check, back up, restore, dump and load, from the shell."""

import sqlite3
from pathlib import Path

import click

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
    said = failed(quick, 3, "restore", "nowhere.db").err
    assert "nowhere.db: there is no campaign here. Check the path of the backup." in said
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


def test_a_campaign_gets_another_name(quick):
    fingerprint = quick("check").out.split()[-1]
    assert quick("rename", "study", "pilot").out == "Campaign 'study' is now 'pilot'\n"
    assert quick("check").out.split()[-1] == fingerprint
    assert quick("rename", "pilot", "study", "--json").json == {"name": "study", "before": "pilot"}
    assert "Did you mean 'study'?" in failed(quick, 3, "rename", "studdy", "x").err
    assert "already exists" in failed(quick, 4, "rename", "study", "study").err
    assert "there is no campaign here" in failed(quick, 3, "rename", "a", "b", "--store", "none.db").err


def test_a_campaign_is_deleted_only_on_demand(quick, monkeypatch):
    quick.asked()
    refused = failed(quick, 2, "delete", "study")
    assert refused.err.startswith(
        "cellworth: Delete campaign 'study' with its table and 1 event for good? Say so with --yes"
    )
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: (_ for _ in ()).throw(click.Abort))
    failed(quick, 130, "delete", "study")
    assert quick("list", "--json").json["campaigns"]
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    assert quick("delete", "study").out == "Campaign 'study' is deleted\n"
    assert "no campaign 'study'" in failed(quick, 3, "delete", "study", "--yes").err
    assert quick("list").out == "There are no campaigns in sqlite:///study.db\n"
