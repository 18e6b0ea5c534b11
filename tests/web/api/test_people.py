"""People by REST: listed without secrets, revoked, and signed out."""

import pytest
from starlette.testclient import TestClient

from cellworth.web import create_app
from cellworth.web.security.tokens import Access, add_token, id_of
from tests.web.servers import OUTSIDE, problem


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "tokens.json"
    made = {role: add_token(path, who=role.title(), role=role) for role in ("answer", "manage")}
    app = create_app(f"sqlite:///{tmp_path}/study.db", access=Access.from_file(path))
    with TestClient(app, base_url=OUTSIDE) as client:
        yield client, made


def test_tokens_are_listed_and_revoked(people):
    client, made = people
    me = {"Authorization": f"Bearer {made['manage']}"}
    other = {"Authorization": f"Bearer {made['answer']}"}
    listed = client.get("/api/v1/tokens", headers=me)
    assert [(each["who"], each["role"]) for each in listed.json()["items"]] == [
        ("Answer", "answer"),
        ("Manage", "manage"),
    ]
    assert "hash" not in listed.text
    assert "salt" not in listed.text
    problem(client.get("/api/v1/tokens", headers=other), 403)
    path = f"/api/v1/tokens/{id_of(made['answer'])}"
    assert client.post(f"{path}/end-sessions", headers=me).json() == {"new": 1}
    assert client.get("/api/v1/campaigns", headers=other).status_code == 200
    problem(client.delete(f"/api/v1/tokens/{id_of(made['manage'])}", headers=me), 409)
    assert client.delete(path, headers=me).json() == {"new": 1}
    assert client.get("/api/v1/campaigns", headers=other).status_code == 401
    problem(client.delete(path, headers=me), 404)
    problem(client.post(f"{path}/end-sessions", headers=me), 404)


def test_an_open_server_has_no_tokens(http):
    assert http.get("/api/v1/tokens").json() == {"items": []}
    problem(http.delete("/api/v1/tokens/x"), 404)
