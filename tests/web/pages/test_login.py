"""Who may do what on the pages: forms with their tokens, sessions, roles."""

from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from cellworth.campaign import Campaign
from cellworth.web import create_app
from cellworth.web.pages import routers
from cellworth.web.security.tokens import Access, add_token
from tests.web.pages.studies import begin
from tests.web.pages.visitor import STUDY, Visitor


def page_posts():
    for router in routers:
        for route in router.routes:
            if "POST" in route.methods:
                yield route.path


@pytest.mark.parametrize("path", sorted(page_posts()))
def test_no_form_is_taken_without_its_token(fresh, path):
    path = path.replace("{name}", "study").replace("{place}", "0")
    fields = {
        "row": "p0",
        "column": "age",
        "value": "1",
        "who": "x",
        "key": "x",
        "reason": "x",
        "token": "x",
    }
    files = {"table": ("t.csv", b"a\n1\n"), "answers": ("t.csv", b"a\n1\n")}
    for token in ({}, {"csrf_token": "0" * 64}):
        answer = fresh.client.post(path, data={**fields, **token}, files=files)
        assert answer.status_code == 403, path
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 1


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server that asks for tokens, and a token of each role."""
    folder = tmp_path_factory.mktemp("guarded")
    with begin(f"sqlite:///{folder}/study.db") as campaign:
        campaign.ask(count=3, who="Ann")
    roles = ("read", "answer", "manage")
    tokens = {role: add_token(folder / "tokens", who=f"{role}er", role=role) for role in roles}
    app = create_app(f"sqlite:///{folder}/study.db", access=Access.from_file(folder / "tokens"))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client, tokens


@pytest.fixture
def stranger(guarded):
    client, tokens = guarded
    client.cookies.clear()
    visitor = Visitor(client)
    visitor.tokens = tokens
    return visitor


def test_sign_in_and_out(stranger):
    page = stranger.look(STUDY + "/queue?page=1")
    assert "Sign in" in page.text
    form = page.form("/login")
    assert form.fields["to"] == STUDY + "/queue?page=1"
    assert "is not known here" in stranger.send(form, 401, token="cw_nobody_x").text
    inside = stranger.send(form, token=stranger.tokens["answer"])
    assert "answerer" in inside.text
    assert urlsplit(str(inside.answer.url)).path == STUDY + "/queue"
    outside = stranger.send(inside.form("/logout"))
    assert "Sign in" in outside.text


def test_nobody_is_sent_elsewhere_after_signing_in(stranger):
    for to in ("https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:1"):
        page = stranger.look(f"/login?to={to}")
        assert page.form("/login").fields["to"] == "/"


@pytest.mark.parametrize("role", ["read", "answer", "manage"])
def test_pages_offer_what_the_role_allows(stranger, role):
    form = stranger.look("/login").form("/login")
    stranger.send(form, token=stranger.tokens[role])
    queue, overview = stranger.look(STUDY + "/queue"), stranger.look(STUDY)
    actions = {form.action.rpartition("/")[2] for form in queue.forms}
    assert (
        {"tell", "refuse", "take", "upload"} <= actions if role != "read" else not actions & {"tell", "take"}
    )
    assert ("cancel" in actions) == (role == "manage")
    assert any("preview" in form.controls for form in overview.forms) == (role == "manage")
    preview = stranger.look(STUDY + "?preview=1&count=1")
    assert ("Ask for these cells" in preview.text) == (role == "manage")
    stranger.look("/new", 200 if role == "manage" else 403)
