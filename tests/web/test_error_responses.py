"""Every error is a problem in words, and shows nothing of the inside."""

import pytest

from cellworth.campaign import Campaign
from tests.web.servers import api, problem


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("GET", "/api/v1/nothing", {}, 404),
        ("DELETE", "/api/v1/campaigns", {}, 405),
        ("GET", "/api/v1/campaigns/x/rows?limit=0", {}, 422),
        ("GET", "/api/v1/campaigns/x/rows?after=-1", {}, 422),
        ("GET", "/api/v1/campaigns/x/rows", {}, 404),
        ("POST", "/api/v1/campaigns/x/tell", {"content": b"{"}, 422),
        ("POST", "/api/v1/campaigns/x/tell", {"json": {"answers": [{"row": "a"}]}}, 422),
        ("POST", "/api/v1/campaigns/x/tell", {"json": {"answers": [], "more": 1}}, 422),
        ("POST", "/api/v1/campaigns/x/ask", {"json": {"budget": -1}}, 422),
        ("POST", "/api/v1/campaigns/x/ask", {"content": b'{"budget": NaN}'}, 422),
        ("POST", "/api/v1/campaigns/x/ask", {"json": {"count": 1}}, 404),
        ("GET", "/api/v1/campaigns/x/summaries/gossip", {}, 404),
    ],
)
def test_every_error_is_a_problem(http, method, path, content, status):
    if "json" not in content and content:
        content["headers"] = {"Content-Type": "application/json"}
    assert problem(http.request(method, path, **content), status)["instance"] == path.partition("?")[0]


def test_an_error_of_our_own_shows_nothing_of_the_inside(http, study, monkeypatch, caplog):
    def fail(*arguments, **keywords):
        raise RuntimeError("a secret")

    monkeypatch.setattr(Campaign, "totals", fail)
    http._transport.raise_server_exceptions = False
    try:
        response = http.get(api(study.name))
    finally:
        http._transport.raise_server_exceptions = True
    assert "secret" not in response.text
    problem(response, 500)
    assert "a secret" in caplog.text
