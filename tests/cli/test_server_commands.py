"""The commands around a server: serve and token."""

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


def test_links_and_last_days(begun, monkeypatch):
    words = ["token", "--tokens", "tokens.json"]
    new = [*words, "--who", "Ann", "--role", "answer", "--expires", "2100-12-31"]
    token, link = begun(*new, "--url", "https://clinic.example").out.split()
    start = "https://clinic.example/login/link?code="
    assert link.startswith(start)
    access = Access.from_file("tokens.json")
    assert access.owner_of_link(link.removeprefix(start)) == access.identify(token)
    (listed,) = begun(*words, "--list", "--json").json["tokens"]
    assert listed["expires"][:10] in ("2100-12-31", "2101-01-01")  # whatever the time zone here
    again = begun(*words, "--link", listed["id"], "--url", "https://clinic.example/", "--json").json["link"]
    assert again.startswith(start)
    assert again != link
    for wrong in (["--link", listed["id"]], ["--who", "B", "--role", "read", "--expires", "2020-01-01"]):
        assert begun(*words, *wrong).code == 2, wrong
    assert begun(*words, "--link", "nobody", "--url", "http://a").code == 3
    pytest.importorskip("segno")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    drawn = begun(*words, "--link", listed["id"], "--url", "https://clinic.example").out
    assert len(drawn.splitlines()) > 15  # the QR code
    assert "\u2588" in drawn or "\u2584" in drawn


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
