"""Options that several commands share: the store, from the words or the environment."""

import pytest


def test_the_store_can_come_from_the_environment(study, monkeypatch):
    monkeypatch.setenv("CELLWORTH_STORE", "sqlite:///elsewhere.db")
    assert study.begin().code == 0
    assert (study.folder / "elsewhere.db").exists()
    assert study("log").out == "There are no events yet\n"


@pytest.mark.parametrize("command", ["ask", "status", "log", "export", "report"])
def test_looking_for_a_campaign_creates_no_store(study, command):
    done = study(command)
    assert (done.code, done.out) == (3, "")
    assert "study.db: there is no campaign here. Start one with: cellworth init" in done.err
    assert not (study.folder / "study.db").exists()
