"""Sessions of browsers, the key of forms, and what is signed."""

import json
import re
import time

import pytest
from starlette.testclient import TestClient

from cellworth.web.security.sessions import SESSION, SESSION_SECONDS, STAY_SECONDS
from cellworth.web.security.tokens import Access, add_token


@pytest.fixture(autouse=True)
def no_cookies(outside):
    outside.cookies.clear()


def sign_in(client, token):
    """Sign in by the page."""
    form = client.get("/login", headers={"Accept": "text/html"}).text
    csrf = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)[1]
    return client.post("/login", data={"token": token, "csrf_token": csrf}, follow_redirects=False)


def test_a_session_lasts_as_long_as_its_token_and_no_longer(outside, tokens, guarded, monkeypatch):
    assert sign_in(outside, "cw_nobody_x").status_code == 303  # back to the form, with the error
    assert SESSION not in outside.cookies
    response = sign_in(outside, tokens[1]["answer"])
    assert response.status_code == 303
    (cookie,) = [text for text in response.headers.get_list("set-cookie") if text.startswith(SESSION)]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert tokens[1]["answer"] not in cookie
    assert outside.get("/api/v1/campaigns").status_code == 200
    good = outside.cookies[SESSION]
    token, began, ends, own, signature = good.split(".")
    longer = f"{token}.{began}.{int(ends) + 9999}.{own}.{signature}"
    manage = f"{guarded.state.access.identify(tokens[1]['manage']).token}.{began}.{ends}.{own}.{signature}"
    renamed = f"{token}.{began}.{ends}.{own[::-1]}.{signature}"
    other = good[:-1] + ("0" if good[-1] != "0" else "1")
    for forged in (longer, manage, renamed, other, f"{token}.{ends}", "", "..", "....", "é.1.2.3.4"):
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


def csrf_of(client, path="/campaigns/study"):
    page = client.get(path, headers={"Accept": "text/html"}).text
    return re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)[1]


def test_a_copied_cookie_ends_with_its_session(outside, tokens):
    sign_in(outside, tokens[1]["answer"])
    copied = outside.cookies[SESSION]
    with_copy = {"Cookie": f"{SESSION}={copied}"}
    token = csrf_of(outside)
    assert outside.post("/logout", data={"csrf_token": token}, follow_redirects=False).status_code == 303
    outside.cookies.clear()
    assert outside.get("/api/v1/campaigns", headers=with_copy).status_code == 401


def test_signing_out_everywhere_ends_the_sessions_of_one_token(outside, tokens, guarded):
    kept, ended = [], []
    for role, where in (("read", kept), ("answer", ended), ("answer", ended)):
        outside.cookies.clear()
        sign_in(outside, tokens[1][role])
        where.append({"Cookie": f"{SESSION}={outside.cookies[SESSION]}"})
    token = csrf_of(outside)
    form = {"csrf_token": token}
    assert outside.post("/logout/everywhere", data=form, follow_redirects=False).status_code == 303
    outside.cookies.clear()
    assert [outside.get("/api/v1/campaigns", headers=each).status_code for each in ended] == [401, 401]
    assert [outside.get("/api/v1/campaigns", headers=each).status_code for each in kept] == [200]
    sign_in(outside, tokens[1]["answer"])
    assert outside.get("/api/v1/campaigns").status_code == 200
    # Another server, or this one after a restart, knows it, too.
    again = Access.from_file(tokens[0])
    known = ended[0]["Cookie"].partition("=")[2].split(".")
    assert again.ended.began_too_early(known[0], float(known[1]) / 1000)
    assert tokens[0].with_name("tokens.json.sessions").stat().st_mode & 0o077 == 0


def test_who_wishes_to_stays_signed_in(outside, tokens):
    form = outside.get("/login", headers={"Accept": "text/html"}).text
    csrf = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)[1]
    fields = {"token": tokens[1]["read"], "csrf_token": csrf, "stay": "1"}
    response = outside.post("/login", data=fields, follow_redirects=False)
    (cookie,) = [text for text in response.headers.get_list("set-cookie") if text.startswith(SESSION)]
    assert f"Max-Age={STAY_SECONDS}" in cookie
