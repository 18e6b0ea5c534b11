"""Before every request: where it comes from, how large it is; and the headers of every answer."""

import re

import pytest

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
