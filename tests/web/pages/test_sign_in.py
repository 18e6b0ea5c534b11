"""Who may do what on the pages: forms with their tokens, sessions, roles."""

from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from cellworth.campaign import Campaign
from cellworth.web import create_app
from cellworth.web.pages import routers
from cellworth.web.security.tokens import Access, add_token
from tests.web.pages.html import Page
from tests.web.pages.studies import begin
from tests.web.pages.visitor import STUDY, Visitor, lines


def page_posts():
    for router in routers:
        for route in router.routes:
            if "POST" in route.methods:
                yield route.path


@pytest.mark.parametrize("path", sorted(page_posts()))
def test_no_form_is_taken_without_its_token(fresh, path):
    path = path.replace("{name}", "study").replace("{place}", "0").replace("{key}", "x")
    fields = {
        "row": "p0",
        "column": "age",
        "value": "1",
        "who": "x",
        "key": "x",
        "reason": "x",
        "token": "x",
        "language": "de",
    }
    one = ("t.csv", b"a\n1\n")
    files = {"table": one, "answers": one, "prices": one, "rows": one}
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
    assert "is not known here" in stranger.send(form, token="cw_nobody_x").text
    inside = stranger.send(form, token=stranger.tokens["answer"])
    assert "answerer" in inside.text
    assert urlsplit(str(inside.answer.url)).path == STUDY + "/queue"
    outside = stranger.send(inside.form("/logout"))
    assert "Sign in" in outside.text


def test_a_form_sent_after_the_session_ended_says_so(stranger):
    stranger.send(stranger.look("/login").form("/login"), token=stranger.tokens["answer"])
    page = stranger.look(STUDY + "/queue")
    line = lines(page)[0]
    stranger.client.cookies.delete("cellworth_session")
    sent = {**line.fields, f"value.{line.key}": "1"}
    came = {"Accept": "text/html", "Referer": f"http://127.0.0.1{STUDY}/queue?who=free"}
    answer = stranger.client.post(STUDY + "/queue/tell", data=sent, headers=came)
    assert "Your session had ended" in answer.text
    assert Page(answer.text).form("/login").fields["to"] == STUDY + "/queue?who=free"
    in_place = {"HX-Request": "true", "Accept": "text/html"}
    assert stranger.client.post(STUDY + "/queue/tell", data=sent, headers=in_place).status_code == 401


def test_the_language_is_chosen_and_kept(stranger):
    page = stranger.look("/login")
    assert "Sign in" in page.text
    german = stranger.send(page.form("/login/language"), language="de")
    assert 'lang="de"' in german.answer.text
    stranger.client.cookies.delete("cellworth_language")
    heard = stranger.client.get("/login", headers={"Accept-Language": "de-CH, en;q=0.5"})
    assert 'lang="de"' in heard.text
    stranger.send(page.form("/login/language"), language="<b>")  # none of ours
    assert 'lang="en"' in stranger.look("/login").answer.text


def test_one_comes_back_to_a_campaign_with_spaces_and_umlauts_in_its_name(stranger):
    page = stranger.look("/campaigns/Klinik%20M%C3%BCller/queue?who=free")
    form = page.form("/login")
    assert form.fields["to"] == "/campaigns/Klinik%20M%C3%BCller/queue?who=free"
    wrong = stranger.send(form, token="cw_nobody")
    assert wrong.form("/login").fields["to"] == form.fields["to"]


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
    assert {"tell", "take", "upload"} <= actions if role != "read" else not actions & {"tell", "take"}
    assert ("/queue/cancel" in queue.answer.text) == (role == "manage")
    assert ("/queue/refuse" in queue.answer.text) == (role != "read")
    changes = {form.action.rpartition("/")[2] for form in stranger.look(STUDY + "/manage").forms}
    assert ({"budget", "prices", "rows"} <= changes) == (role == "manage")
    assert any("preview" in form.controls for form in overview.forms) == (role == "manage")
    preview = stranger.look(STUDY + "?preview=1&count=1")
    assert ("Ask for these values" in preview.text) == (role == "manage")
    stranger.look("/new", 200 if role == "manage" else 403)
