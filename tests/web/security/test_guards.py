"""Before every request: where it comes from, how large it is; and the headers of every answer."""

import asyncio
import re

import pytest

from cellworth.web import create_app
from tests.web.servers import LOCAL, api, problem


def test_what_is_too_large_is_refused_by_its_length_and_on_the_way(study, http):
    path = api(study.name, "tell-file")
    most = 200_000
    files = {"answers": ("a.csv", b"x" * (most + 1))}
    assert "0.2 MB" in problem(http.post(path, files=files), 413)["detail"]

    def pieces():
        for _ in range(3):
            yield b"y" * (most // 2)

    headers = {"Content-Type": "application/json"}
    problem(http.post(api(study.name, "tell"), content=pieces(), headers=headers), 413)


def test_who_may_not_write_is_turned_away_before_anything_is_read(guarded, tokens, outside):
    """The body is not even asked for: 47 MB of JSON without a token once stopped the server for seconds."""

    async def receive():
        raise AssertionError("the body was read")

    def ask_for(path, **headers):
        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "scheme": "http",
            "headers": [(b"host", b"clinic.example"), (b"content-type", b"application/json")]
            + [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        asyncio.run(guarded(scope, receive, send))
        return sent[0]["status"]

    paths = ["/api/v1" + path for path in ("/campaigns", "/campaigns/study/tell", "/campaigns/study/rows")]
    for path in [*paths, "/campaigns/study/upload", "/campaigns/study/queue/tell", "/new"]:
        assert ask_for(path) == 401, path
        assert ask_for(path, authorization="Bearer cw_x_y") == 401, path
        assert ask_for(path, authorization=f"Bearer {tokens[1]['read']}") == 403, path


def test_only_files_may_be_larger_than_two_megabytes(guarded, tokens, outside):
    headers = {"Authorization": f"Bearer {tokens[1]['manage']}"}
    body = b'{"answers": []' + b" " * 2_000_000 + b"}"
    json = {**headers, "Content-Type": "application/json"}
    problem(outside.post("/api/v1/campaigns/study/tell", content=body, headers=json), 413)
    form = {"csrf_token": "x" * 2_000_001}
    assert outside.post("/campaigns/study/queue/tell", data=form, headers=headers).status_code == 413
    files = {"answers": ("a.csv", b"row,column,value\n" + b",,\n" * 700_000)}
    answer = outside.post("/api/v1/campaigns/study/tell-file", files=files, headers=headers)
    assert answer.status_code != 413


@pytest.mark.parametrize("body", [b"[" * 190_000, b'{"answers": [' + b"{}," * 9_999 + b"{}]}", b"\xff", b""])
def test_odd_json_is_refused_in_few_words(http, name, body):
    answer = http.post(api(name, "tell"), content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert len(answer.content) < 50_000


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
        ({"Host": "["}, 421),
        ({"Host": "[::1"}, 421),
        ({"Origin": "http://["}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "https://clinic.example", "X-Forwarded-Host": "clinic.example"}, 200),
        ({"Origin": "https://clinic.example", "Forwarded": 'for=10.0.0.1;host="clinic.example"'}, 200),
        ({"Origin": "https://evil.example", "Forwarded": "host=clinic.example"}, 403),
        ({"Origin": "http://evil.example", "X-Forwarded-Host": "clinic.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost:8000"}, 200),
        ({"Host": "[::1]:8000"}, 200),
    ],
)
def test_other_sites_cannot_make_a_browser_write(http, name, headers, status):
    body = {"cells": [], "reason": "x"}
    response = http.post(f"/api/v1/campaigns/{name}/refuse", json=body, headers=headers)
    assert response.status_code == status, response.text
    read = 403 if headers.get("Sec-Fetch-Site") == "cross-site" else 421 if status == 421 else 200
    assert http.get(f"/api/v1/campaigns/{name}", headers=headers).status_code == read


def test_another_site_may_link_here_and_nothing_else(http, name):
    """A link in a mail works; an image or script on another page starts nothing."""
    page = f"/campaigns/{name}"
    for mode, status in (("navigate", 200), ("no-cors", 403), ("cors", 403), ("", 403)):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
        assert http.get(page, headers=headers).status_code == status, mode
    assert http.get(page, headers={"Sec-Fetch-Site": "none"}).status_code == 200


def test_the_public_address_is_our_own(tmp_path):
    from starlette.testclient import TestClient

    app = create_app(f"sqlite:///{tmp_path}/study.db", public_url="https://clinic.example/")
    with TestClient(app, base_url=LOCAL) as client:
        for origin, status in (("https://clinic.example", 404), ("https://other.example", 403)):
            answer = client.post(api("no", "clock"), json={}, headers={"Origin": origin})
            assert answer.status_code == status, answer.text


def test_browsers_keep_scripts_and_styles_for_an_hour(http):
    answer = http.get("/static/style.css")
    assert answer.headers["cache-control"] == "max-age=3600"
    again = http.get("/static/style.css", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "max-age=3600")
    assert http.get("/static/no-such.css").headers["cache-control"] == "no-store"


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
