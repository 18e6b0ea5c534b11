"""Who may do what: every route has its role, and names cannot be chosen."""

import re

import pytest
from starlette.routing import Mount

from cellworth.web.dependencies import OPEN_PATHS, role_of
from cellworth.web.security.tokens import Role
from tests.campaign.campaigns import make_table


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
