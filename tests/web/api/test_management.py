"""Manage by REST: budget, prices, leases and names; tokens are listed, revoked, and signed out."""

from typing import get_args, get_type_hints

import pytest
from starlette.testclient import TestClient

from cellworth.campaign.event_codec import KINDS
from cellworth.errors import ConflictError, DataError
from cellworth.web import create_app
from cellworth.web.api.json_bodies import EventOut
from cellworth.web.client import Client
from cellworth.web.security.tokens import Access, add_token, id_of
from tests.web.servers import LOCAL, OUTSIDE, api, problem


def test_another_budget_and_other_prices(study, http):
    batch = study.ask(count=2)
    assert study.change_budget(80, reason="a grant")
    assert not study.change_budget(80)
    assert study.totals().budget == 80.0
    with pytest.raises(ConflictError, match="below what is spent"):
        study.change_budget(0.01)
    assert study.change_prices(("prices.csv", b"column,price\n(other columns),4\n"), reason="inflation")
    reserved = study.totals().reserved
    assert reserved == pytest.approx(sum(each.price for each in batch))
    assert [each.price for each in study.ask(count=1)] == [4.0]
    assert study.change_budget(None)
    assert study.totals().left is None
    with pytest.raises(DataError, match="'dose'"):
        study.change_prices(("prices.csv", b"column,price\nage,4\n"))
    kinds = ["asked", "budget changed", "prices changed", "asked", "budget changed"]
    records = list(study.history())
    assert [record["kind"] for record in records] == kinds
    assert (records[1]["new"], records[1]["who"], records[2]["reason"]) == (80.0, "Ann", "inflation")
    problem(http.post(api(study.name, "budget"), json={}), 422)
    problem(http.post(api(study.name, "budget"), json={"budget": -1}), 422)


def test_a_category_that_turned_up(study, http):
    cell = next(each for each in study.ask(count=40) if each.column == "hue")
    with pytest.raises(DataError, match=r"add it to the categories of the column first: POST .*/cat"):
        study.tell({(cell.row, "hue"): "pink"})
    assert study.add_category("hue", "pink", reason="seen")
    assert not study.add_category("hue", "pink")
    assert study.tell({(cell.row, "hue"): "pink"}) == 1
    added = [event for event in study.history() if event["kind"] == "category added"]
    assert [(each["column"], each["new"], each["who"]) for each in added] == [("hue", "pink", "Ann")]
    with pytest.raises(DataError, match="no order"):
        study.add_category("hue", "grey", before="pink")
    problem(http.post(api(study.name, "categories"), json={"column": "hue"}), 422)


def test_every_kind_of_event_has_its_place_in_the_schema():
    (kinds,) = (get_args(each) for name, each in get_type_hints(EventOut).items() if name == "kind")
    assert set(kinds) == set(KINDS)


def test_other_peoples_leases_and_the_clock(study, http):
    batch = study.ask(count=2)
    other = Client(LOCAL, who="Bob", transport=http._transport).campaign(study.name)
    other.take(batch)
    assert study.release(batch[:1], reason="Bob is ill") == 1
    assert [each.holder for each in study.take(batch[:1])] == ["Ann"]
    assert not study.set_clock()
    with pytest.raises(ConflictError, match="Use correct"):
        study.tell({("p0", "age"): 119})
    records = list(study.history())
    assert [record["kind"] for record in records] == ["asked", "taken", "released", "taken", "contradicted"]
    assert (records[-1]["who"], records[-1]["cells"][0]["value"]) == ("Ann", 119)


def test_a_campaign_is_closed_and_opened_again(study, http):
    assert study.totals().stage == "open"
    assert study.change_stage("closed", reason="done")
    assert not study.change_stage("closed")
    assert study.totals().stage == "closed"
    with pytest.raises(ConflictError, match="is closed, so nothing was recorded"):
        study.ask(count=1)
    with pytest.raises(ConflictError, match="is closed"):
        study.tell({("p0", "age"): 30})
    problem(http.post(api(study.name, "stage"), json={"stage": "shut"}), 422)
    assert study.change_stage("open")
    assert len(study.ask(count=1)) == 1


def test_a_campaign_gets_another_name(study, client, http):
    batch = study.ask(count=1)
    old, new = study.name, f"{study.name} / renamed"
    answer = http.post(api(old, "rename"), json={"name": new})
    assert answer.json() == {"name": new}
    assert http.get(answer.headers["location"]).json()["open"] == 1
    problem(http.get(api(old)), 404)
    there = client.campaign(new)
    there.rename(f"{new} again")
    assert [each.row for each in there.purchases()] == [batch[0].row]
    problem(http.post(api(there.name, "rename"), json={"name": there.name}), 409)
    problem(http.post(api("nobody", "rename"), json={"name": "x"}), 404)
    problem(http.post(api(there.name, "rename"), json={"name": ""}), 422)


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
    problem(http.post("/api/v1/tokens", json={"who": "Ann", "role": "read"}), 409)


def test_tokens_are_made_and_end(people):
    client, made = people
    me = {"Authorization": f"Bearer {made['manage']}"}
    sent = client.post("/api/v1/tokens", json={"who": "Lab", "role": "answer"}, headers=me)
    assert sent.status_code == 201
    new = {"Authorization": f"Bearer {sent.json()['token']}"}
    assert client.get("/api/v1/campaigns", headers=new).status_code == 200
    path = f"/api/v1/tokens/{sent.json()['id']}/expiry"
    assert client.post(path, json={"expires": "2091-12-31"}, headers=me).json() == {"new": 1}
    assert client.get("/api/v1/tokens", headers=me).json()["items"][-1]["expires"][:4] in ("2091", "2092")
    refused = problem(client.post(path, json={"expires": "2001-12-31"}, headers=me), 422)
    assert "must lie in the future; got 2001-12-31." in refused["detail"]  # the day, as it was given
    problem(client.post("/api/v1/tokens", json={"who": "Lab", "role": "emperor"}, headers=me), 422)
    problem(client.post("/api/v1/tokens", json={"who": "Lab", "role": "read"}, headers=new), 403)
    problem(client.post("/api/v1/tokens/x/expiry", json={"expires": None}, headers=me), 404)
