"""Who gets in: tokens, roles on every route, sessions, forms, foreign sites, and the headers of answers."""

import json
import os
import re
import stat
import time

import pytest
from starlette.routing import Mount
from starlette.testclient import TestClient

from cellworth.errors import DataError, ParameterError
from cellworth.web import create_app
from cellworth.web.app import check_roles
from cellworth.web.dependencies import OPEN_PATHS, role_of
from cellworth.web.security import tokens as module
from cellworth.web.security.sessions import SESSION, SESSION_SECONDS
from cellworth.web.security.tokens import Access, Role, add_token, list_tokens, remove_token
from cellworth.web.server import check_host, is_loopback
from tests.campaign.campaigns import make_table
from tests.web.servers import LOCAL, begin

OUTSIDE = "http://clinic.example"


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    """Return the file, and a token for each role."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.json"
    return path, {role: add_token(path, who=role.title(), role=role) for role in ("read", "answer", "manage")}


@pytest.fixture(scope="module")
def guarded(tokens, tmp_path_factory):
    """An application that asks for tokens."""
    address = f"sqlite:///{tmp_path_factory.mktemp('guarded')}/study.db"
    begin(address, make_table(), strategy="random")
    return create_app(address, access=Access.from_file(tokens[0]))


@pytest.fixture(scope="module")
def outside(guarded):
    with TestClient(guarded, base_url=OUTSIDE) as client:
        yield client


@pytest.fixture(autouse=True)
def no_cookies(outside):
    outside.cookies.clear()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def routes(app):
    """Yield the method, a path with its gaps filled in, and the role of every route."""
    for route in app.routes:
        if isinstance(route, Mount):
            continue
        path = re.sub(r"{(\w+)(:\w+)?}", lambda found: {"name": "study"}.get(found[1], "x"), route.path)
        for method in sorted(route.methods - {"HEAD"}):
            yield method, path, role_of(route)


def test_every_route_names_a_role_and_keeps_others_out(guarded, outside, tokens):
    seen = 0
    for method, path, role in routes(guarded):
        if role is None:
            assert path.startswith(OPEN_PATHS)
            continue
        seen += 1
        nobody = outside.request(method, path)
        assert nobody.status_code == 401, (method, path)
        assert nobody.headers["www-authenticate"] == "Bearer"
        wrong = outside.request(method, path, headers=bearer(tokens[1]["manage"] + "x"))
        assert wrong.status_code == 401, (method, path)
        for name, token in tokens[1].items():
            if Role.named(name) < role:
                response = outside.request(method, path, headers=bearer(token))
                assert response.status_code == 403, (method, path, name)
                assert role.name.lower() in response.json()["detail"]
    assert seen > 20


def test_every_role_can_do_its_part(outside, tokens):
    base = "/api/v1/campaigns/study"
    requests = [
        ("read", "GET", base, {}),
        ("read", "GET", f"{base}/events", {}),
        ("read", "GET", "/api/v1/openapi.json", {}),
        ("answer", "POST", f"{base}/take", {"json": {"count": 1}}),
        ("answer", "POST", f"{base}/correct", {"json": {"row": "p0", "column": "age", "value": 41}}),
        ("manage", "POST", f"{base}/cancel", {"json": {"cells": []}}),
        ("manage", "POST", f"{base}/rows", {"json": {"rows": {}}}),
    ]
    for needed, method, path, content in requests:
        for name, token in tokens[1].items():
            response = outside.request(method, path, headers=bearer(token), **content)
            allowed = Role.named(name) >= Role.named(needed)
            assert (response.status_code == 403) != allowed, (path, name, response.text)
    events = outside.get(f"{base}/events", headers=bearer(tokens[1]["read"])).json()["items"]
    assert [event["who"] for event in events] == ["Answer"]  # whose token it is, whatever is claimed


def test_unasked_values_and_other_prices_need_the_highest_role(outside, tokens):
    table = make_table()
    i, j = next(zip(*table.holes.nonzero(), strict=True))
    cell = {"row": table.row_ids[i], "column": table.column_names[j], "value": 1}
    for extra in ({"unsolicited": True}, {"price": 0}):
        body = {"answers": [cell], **extra}
        path = "/api/v1/campaigns/study/tell"
        refused = outside.post(path, json=body, headers=bearer(tokens[1]["answer"]))
        assert refused.status_code == 403
        assert outside.post(path, json=body, headers=bearer(tokens[1]["manage"])).status_code != 403


def test_with_a_token_the_name_cannot_be_chosen(outside, tokens):
    headers = {**bearer(tokens[1]["answer"]), "Cellworth-Who": "Somebody"}
    body = {"row": "p1", "column": "age", "value": 42}
    outside.post("/api/v1/campaigns/study/correct", json=body, headers=headers)
    last = outside.get("/api/v1/campaigns/study/events", headers=headers).json()["items"][-1]
    assert last["who"] == "Answer"


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


def sign_in(client, token):
    """Sign in by the page."""
    form = client.get("/login", headers={"Accept": "text/html"}).text
    csrf = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)[1]
    return client.post("/login", data={"token": token, "csrf_token": csrf}, follow_redirects=False)


def test_a_session_lasts_as_long_as_its_token_and_no_longer(outside, tokens, guarded, monkeypatch):
    assert sign_in(outside, "cw_nobody_x").status_code in (401, 403, 422)
    assert SESSION not in outside.cookies
    response = sign_in(outside, tokens[1]["answer"])
    assert response.status_code == 303
    (cookie,) = [text for text in response.headers.get_list("set-cookie") if text.startswith(SESSION)]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert tokens[1]["answer"] not in cookie
    assert outside.get("/api/v1/campaigns").status_code == 200
    good = outside.cookies[SESSION]
    token, ends, signature = good.split(".")
    longer = f"{token}.{int(ends) + 9999}.{signature}"
    manage = f"{guarded.state.access.identify(tokens[1]['manage']).token}.{ends}.{signature}"
    for forged in (longer, manage, good[:-1] + "x", f"{token}.{ends}", "", "..", "é.1.2"):
        outside.cookies.clear()
        headers = {"Cookie": f"{SESSION}={forged}".encode()}
        assert outside.get("/api/v1/campaigns", headers=headers).status_code == 401, forged
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + SESSION_SECONDS + 1)
    assert outside.get("/api/v1/campaigns", headers={"Cookie": f"{SESSION}={good}"}).status_code == 401


def test_a_cookie_goes_over_https_only_where_there_is_https(guarded, tokens):
    with TestClient(guarded, base_url="https://clinic.example") as client:
        cookies = sign_in(client, tokens[1]["read"]).headers.get_list("set-cookie")
        assert cookies
        assert all("secure" in cookie.lower() for cookie in cookies)


def test_forms_must_come_from_our_pages(outside, tokens):
    assert sign_in(outside, tokens[1]["manage"]).status_code == 303
    path = "/campaigns/study/queue/take"
    page = {"Accept": "text/html"}
    for fields in ({}, {"csrf_token": "x"}, {"csrf_token": ""}):
        answer = outside.post(path, data={"count": "1", **fields}, headers=page, follow_redirects=False)
        assert answer.status_code == 403
    form = outside.get("/campaigns/study/queue", headers=page).text
    csrf = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)[1]
    good = outside.post(path, data={"count": "1", "csrf_token": csrf}, follow_redirects=False)
    assert good.status_code == 303
    outside.cookies.delete("cellworth_csrf")  # the field alone, as another site might have it
    answer = outside.post(path, data={"count": "1", "csrf_token": csrf}, headers=page, follow_redirects=False)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": LOCAL, "Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost:8000"}, 200),
        ({"Host": "[::1]:8000"}, 200),
    ],
)
def test_other_sites_cannot_make_a_browser_write(http, name, headers, status):
    body = {"cells": [], "reason": "x"}
    response = http.post(f"/api/v1/campaigns/{name}/refuse", json=body, headers=headers)
    assert response.status_code == status, response.text
    assert http.get(f"/api/v1/campaigns/{name}", headers=headers).status_code == (
        421 if status == 421 else 200
    )


def test_headers_of_every_answer(http, name):
    for path in ("/health", "/api/v1/campaigns", f"/campaigns/{name}", "/nowhere"):
        headers = http.get(path, headers={"Accept": "text/html"}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe-eval" not in policy
        assert not re.search(r"script-src[^;]*unsafe", policy)
        assert "frame-ancestors 'none'" in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_an_app_with_a_route_that_nobody_guards_is_refused(http):
    from fastapi import APIRouter

    router = APIRouter()

    @router.get("/secret")
    async def secret():
        return "open"

    with pytest.raises(ParameterError, match="/secret must declare who may use it"):
        check_roles(router.routes)
    check_roles(http.app.routes)


def test_beyond_this_machine_tokens_are_demanded(tokens):
    for host in ("127.0.0.1", "::1", "[::1]", "localhost", "127.3.2.1"):
        assert is_loopback(host)
        check_host(host, None)
    for host in ("0.0.0.0", "::", "192.168.1.5", "clinic.example", ""):
        assert not is_loopback(host)
        for access in (None, Access.open_to_all()):
            with pytest.raises(ParameterError, match="cellworth token"):
                check_host(host, access)
        check_host(host, Access.from_file(tokens[0]))


def test_signatures_fit_one_purpose(tmp_path):
    from cellworth.web.security.sessions import is_signed, sign

    signature = sign(b"key", "a", "text")
    assert is_signed(b"key", "a", "text", signature)
    assert not is_signed(b"key", "b", "text", signature)
    assert not is_signed(b"other", "a", "text", signature)
    assert not is_signed(b"key", "a", "text", "é")
    secret = json.loads(_made(tmp_path).read_text())["secret"]
    assert len(secret) == 64


def _made(folder):
    add_token(folder / "t.json", who="Ann", role="read")
    return folder / "t.json"
