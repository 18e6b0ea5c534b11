"""People on a page: tokens are made, shown once, limited, revoked, and signed out."""

import re
from datetime import date, timedelta

import pytest
from starlette.testclient import TestClient

from cellworth.web import create_app
from cellworth.web.pages.token_list import qr_code
from cellworth.web.security.tokens import Access, add_token, list_tokens
from tests.web.pages.visitor import Visitor
from tests.web.servers import OUTSIDE


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("people") / "tokens.json"


@pytest.fixture(scope="module")
def manager(path):
    token = add_token(path, who="Ann", role="manage")
    app = create_app(f"sqlite:///{path.parent}/study.db", access=Access.from_file(path))
    with TestClient(app, base_url=OUTSIDE) as client:
        visitor = Visitor(client)
        visitor.send(visitor.look("/login").form("/login"), token=token)
        yield visitor


def of(page, action, who, path):
    """Return the form of one person."""
    [token] = [each.id for each in list_tokens(path) if each.who == who]
    return page.form(action, token=token)


def test_a_token_is_shown_once_and_signs_in(manager, path):
    page = manager.look("/people")
    made = manager.send(page.form("/people"), who="Nurse Joy", role="answer", expires="2091-12-31")
    assert "For Nurse Joy: shown only now" in made.text
    [token] = re.findall(r'value="(cw_[^"]+)"', made.answer.text)
    [link] = re.findall(r'value="(http[^"]+/login/link\?code=[^"]+)"', made.answer.text)
    assert link.startswith(OUTSIDE)
    assert qr_code(link.replace("&amp;", "&"))[0] in made.answer.text
    again = manager.look(str(made.answer.url).removeprefix(OUTSIDE))
    assert token not in again.answer.text
    assert Access.from_file(path).identify(token).who == "Nurse Joy"
    assert 'value="2091-12-31"' in again.answer.text  # the last day is that day, wherever the server is


def test_days_roles_and_names_are_checked(manager, path):
    page = manager.look("/people")
    before = list_tokens(path)
    for wrong, words in (
        ({"who": " ", "role": "read"}, "must not be blank"),
        ({"who": "Bob", "role": "emperor"}, "Expected one of the roles"),
        ({"who": "Bob", "role": "read", "expires": "soon"}, "Expected a day"),
        ({"who": "Bob", "role": "read", "expires": "2001-01-01"}, "in the future"),
    ):
        refused = manager.send(page.form("/people"), **wrong)
        assert words in refused.text
    assert list_tokens(path) == before
    assert refused.form("/people").fields["who"] == "Bob"  # what was typed is there again


def test_tokens_end_are_revoked_and_signed_out(manager, path):
    made = manager.send(manager.look("/people").form("/people"), who="Cy", role="read")
    [token] = re.findall(r'value="(cw_[^"]+)"', made.answer.text)
    access = Access.from_file(path)
    [before] = [each for each in list_tokens(path) if each.who == "Cy"]
    page = manager.look("/people")
    tomorrow = (date.today() + timedelta(days=1)).isoformat()
    assert "another last day" in manager.send(of(page, "/expiry", "Cy", path), expires=tomorrow).text
    assert [each.expires for each in list_tokens(path) if each.who == "Cy"] != [before.expires]
    assert "Cy is signed out everywhere" in manager.send(of(page, "/end-sessions", "Cy", path)).text
    assert access.ended.began_too_early(before.id, 0.0)
    linked = manager.send(of(page, "/people/link", "Cy", path))
    assert "For Cy: shown only now" in linked.text
    assert "cw_" not in linked.answer.text
    assert "is revoked" in manager.send(of(page, "/revoke", "Cy", path)).text
    assert Access.from_file(path).identify(token) is None


def test_nobody_removes_their_own_token(path):
    add_token(path, who="Eve", role="read")
    token = add_token(path, who="Dee", role="manage")
    app = create_app(f"sqlite:///{path.parent}/study.db", access=Access.from_file(path))
    with TestClient(app, base_url=OUTSIDE) as client:
        dee = Visitor(client)
        dee.send(dee.look("/login").form("/login"), token=token)
        page = dee.look("/people")
        mine = list_tokens(path)[-1].id
        assert not [
            form for form in page.forms if form.fields.get("token") == mine and "revoke" in form.action
        ]
        form = next(form for form in page.forms if "revoke" in form.action)
        assert "your own token" in dee.send(form, token=mine).text


def test_an_open_server_has_no_people(ann):
    page = ann.look("/people")
    assert "asks for no tokens" in page.text
