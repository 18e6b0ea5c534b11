"""The commands around a server: serve, token, take and give-back."""

import signal

import pytest

from cellworth.cli import main
from tests.cli.study import Study

pytest.importorskip("fastapi")

from cellworth.web import Client
from cellworth.web.security.tokens import Access, Role
from tests.web.servers import serving


@pytest.fixture
def begun(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path, capsys)
    assert study.begin("--strategy", "random").code == 0
    return study


def test_take_and_give_back(begun):
    begun.asked(count=4)
    done = begun("take", "--count", "2", "--who", "Ann", "--lease", "2h", "--out", "mine.csv")
    assert (done.code, done.err) == (0, "")
    assert "2 cells taken by Ann until" in done.out
    mine = begun.lines("mine.csv")
    assert len(mine) == 2
    cell = f"{mine[0]['row']}:{mine[0]['column']}"
    other = begun("take", cell, "--who", "Bob")
    assert (other.code, other.out) == (4, "")
    assert "is with 'Ann'" in other.err
    assert begun("give-back", cell, "--who", "Bob").code == 4
    assert begun("give-back", cell, "--who", "Ann", "--json").json == {"given_back": 1}
    taken = begun("take", cell, "--who", "Bob", "--json").json["cells"]
    assert [each["holder"] for each in taken] == ["Bob"]
    assert "1 cell taken by Zoe" in begun("take", "--count", "1", "--who", "Zoe").out
    assert begun.kinds() == ["asked", "taken", "given back", "taken", "taken"]
    assert "given back" in begun("log").out
    begun.fill("mine.csv")
    assert begun("tell", "mine.csv", "--who", "Cy").code == 0  # answers of others count all the same


def test_wrong_usage_of_take(begun):
    begun.asked(count=1)
    for words in (
        ["take", "--count", "1"],
        ["take", "--who", "Ann"],
        ["take", "p1:age", "--count", "1", "--who", "Ann"],
        ["take", "--count", "1", "--who", "Ann", "--lease", "soon"],
    ):
        assert begun(*words).code == 2, words
    assert begun("take", "--count", "1", "--who", "Ann", "--out", "nowhere/x.csv").code == 3
    assert begun.kinds() == ["asked"]


def test_tokens(begun):
    words = ["token", "--tokens", "tokens.json"]
    made = begun(*words, "--who", "Ann", "--role", "answer")
    assert (made.code, made.err) == (0, "")
    token = made.out.strip()
    identity = Access.from_file("tokens.json").identify(token)
    assert (identity.who, identity.role) == ("Ann", Role.ANSWER)
    second = begun(*words, "--who", "Bob", "--role", "manage", "--json").json
    assert second["token"].startswith("cw_")
    listed = begun(*words, "--list", "--json").json["tokens"]
    assert [(each["who"], each["role"]) for each in listed] == [("Ann", "answer"), ("Bob", "manage")]
    assert "hash" not in listed[0]
    shown = begun(*words, "--list").out
    assert "Bob" in shown
    assert token not in shown
    assert begun(*words, "--remove", identity.token).code == 0
    assert Access.from_file("tokens.json").identify(token) is None
    assert begun(*words, "--remove", identity.token).code == 3
    for wrong in ([], ["--who", "Ann"], ["--list", "--remove", "x"], ["--who", "Ann", "--role", "king"]):
        assert begun(*words, *wrong).code == 2, wrong


def test_a_server_beyond_this_machine_needs_tokens(begun):
    refused = begun("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "cellworth token" in refused.err
    missing = begun("serve", "--host", "0.0.0.0", "--tokens", "nothing.json")
    assert missing.code == 3
    assert "cellworth token" in missing.err


@pytest.mark.service
def test_serve_with_tokens(begun):
    assert main(["token", "--tokens", "tokens.json", "--who", "Ann", "--role", "answer"]) == 0
    token = begun._capsys.readouterr().out.strip()
    begun.asked(count=2)
    with serving(f"sqlite:///{begun.folder}/study.db", "--tokens", "tokens.json") as server:
        with Client(server.url) as nobody, pytest.raises(Exception, match="Sign in"):
            nobody.names()
        with Client(server.url, token) as client:
            assert client.names() == ["study"]
            assert client.campaign("study").take(1)[0].holder == "Ann"
        taken = begun("serve", "--port", server.url.rpartition(":")[2])
        assert taken.code == 3
        assert "another port" in taken.err.lower()
        assert server.end(signal.SIGTERM) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
