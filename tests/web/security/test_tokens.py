"""The file of tokens: for its owner only, without the tokens themselves, and read again when it changes."""

import os
import stat

import pytest

from cellworth.errors import DataError, ParameterError
from cellworth.web.security import tokens as module
from cellworth.web.security.tokens import Access, Role, add_token, list_tokens, remove_token


@pytest.fixture(autouse=True)
def no_cookies(outside):
    outside.cookies.clear()


def test_the_file_keeps_no_token_and_is_for_its_owner_only(tokens):
    path, made = tokens
    text = path.read_text()
    for token in made.values():
        assert token not in text
        assert token.split("_", 2)[2] not in text  # the secret part, which may have "_" in it
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({token.hash for token in list_tokens(path)}) == 3


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_file_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "tokens.json"
    add_token(path, who="Ann", role="read")
    path.chmod(0o640)
    with pytest.raises(DataError, match="chmod 600"):
        Access.from_file(path)


def test_files_that_are_none(tmp_path):
    path = tmp_path / "tokens.json"
    with pytest.raises(DataError, match="cellworth token"):
        Access.from_file(path)
    for text in ("", "[]", '{"format": 2}', '{"format": 1, "secret": "zz", "tokens": []}'):
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(DataError, match="expected a token file"):
            Access.from_file(path)
    with pytest.raises(ParameterError, match="read, answer, manage"):
        add_token(tmp_path / "new.json", who="Ann", role="king")
    with pytest.raises(ParameterError, match="not be blank"):
        add_token(tmp_path / "new.json", who=" ", role="read")
    assert not (tmp_path / "new.json").exists()


def test_tokens_come_and_go_while_the_server_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOOK_AGAIN", 0.0)
    path = tmp_path / "tokens.json"
    first = add_token(path, who="Ann", role="read")
    access = Access.from_file(path)
    second = add_token(path, who="Bob", role="manage")
    assert access.identify(second).role is Role.MANAGE
    remove_token(path, access.identify(first).token)
    assert access.identify(first) is None
    assert access.identify(second).who == "Bob"
    with pytest.raises(DataError, match="no token with the id"):
        remove_token(path, "x")
    path.write_text("damaged")
    assert access.identify(second) is None  # in doubt nobody gets in
    for odd in ("", "_", "cw_", "cw__", "cw_x_y", "\ud800", "cw_" + "é" * 10):
        assert access.identify(odd) is None
