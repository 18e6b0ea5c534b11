"""A campaign through the client: the same operations, the same errors, and once what was sent twice."""

from datetime import UTC, date, datetime, timedelta

import httpx
import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ConflictError, DataError
from cellworth.web.client import AccessError, Client, ServerError
from tests.campaign.campaigns import PRICES, answers_to, make_table
from tests.web.servers import LOCAL, api, problem


def test_a_campaign_from_ask_to_export(study, shared_url):
    assert study.totals().left == 50.0
    seen = study.preview(count=6)
    assert study.totals().number == 0
    batch = study.ask(count=6, lease="12h")
    assert [(p.row, p.column, p.price) for p in batch] == [(p.row, p.column, p.price) for p in seen]
    assert {p.asked_by for p in batch} == {"Ann"}
    taken = study.take(batch[:2])
    assert {(p.holder, p.held_until > datetime.now(UTC)) for p in taken} == {("Ann", True)}
    assert study.give_back(batch[1:2]) == 1
    assert study.tell(answers_to(batch[:3])) == 3
    assert study.tell(answers_to(batch[:3])) == 0
    assert study.refuse(batch[3:4], "the sample is lost") == 1
    assert study.cancel(batch[4:5]) == 1
    assert study.correct("p0", "age", 33, reason="misread")
    assert not study.correct("p0", "age", 33)
    assert study.extend({"new": {"age": 3, "visit": date(2024, 2, 3), "dose": np.float64(2.5)}}) == 1
    assert [(p.row, p.column) for p in study.purchases()] == [(batch[5].row, batch[5].column)]
    kinds = ["asked", "taken", "given_back", "told", "refused", "cancelled", "corrected", "extended"]
    assert [record["kind"].replace(" ", "_") for record in study.history()] == kinds
    assert [record["kind"] for record in study.history(after=6)] == ["corrected", "extended"]
    totals = study.totals()
    with Campaign.open(shared_url, study.name) as campaign:  # the library sees the same
        assert campaign.totals() == type(campaign.totals())(
            **{name: getattr(totals, name) for name in campaign.totals().__dataclass_fields__}
        )
        assert list(study.purchases()) == campaign.open_purchases()
        assert [r["time"] for r in study.history()] == [r["time"] for r in campaign.history()]
        assert study.table_csv() == campaign.table.to_csv()
        assert {c["column"]: c["status"] for c in study.row("new")["cells"]} == {
            c.column: c.status for c in campaign.row("new").cells
        }
    assert totals.rows == 31


def test_conflicts_and_wrong_data(study, http, client):
    batch = study.ask(count=3)
    other = Client(LOCAL, who="Bob", transport=http._transport).campaign(study.name)
    other.take(batch[:1], lease=timedelta(minutes=90))
    with pytest.raises(ConflictError, match="is with 'Bob' until"):
        study.take(batch)
    with pytest.raises(ConflictError, match="is with 'Bob'"):
        study.give_back(batch[:1])
    study.tell(answers_to(batch[:1]))  # an answer is taken all the same
    with pytest.raises(ConflictError, match="is known"):
        study.correct("p0", "age", 1) and study.tell({("p0", "age"): 2})
    with pytest.raises(DataError, match="Did you mean 'age'"):
        study.tell({("p3", "aga"): 2})
    with pytest.raises(DataError, match="expected one of"):
        study.correct("p0", "stage", "V")
    with pytest.raises(DataError, match="no campaign 'nowhere'"):
        client.campaign("nowhere").totals()
    with pytest.raises(DataError, match="Did you mean 'recommended'"):
        client.create(("t.csv", make_table().to_csv().encode()), name="x", strategy="recomended")
    both = http.post(api(study.name, "take"), json={"cells": [], "count": 1})
    assert "either cells or count" in problem(both, 422)["detail"]
    kinds = ["asked", "taken", "told", "corrected", "contradicted"]
    assert [record["kind"] for record in study.history()] == kinds


def test_the_client_sends_again_what_did_not_get_through_and_it_counts_once(study, http):
    sent = []

    def flaky(request):
        sent.append(request)
        response = http.send(
            http.build_request(
                request.method, str(request.url), headers=request.headers, content=request.read()
            )
        )
        if len(sent) == 1:  # it got through, but the answer is lost
            raise httpx.ReadError("the line broke")
        return httpx.Response(response.status_code, content=response.content, headers=response.headers)

    client = Client(LOCAL, who="Zoe", transport=httpx.MockTransport(flaky))
    batch = client.campaign(study.name).ask(count=2)
    assert len(sent) == 2
    assert [(p.row, p.column) for p in batch] == [(p.row, p.column) for p in study.purchases()]
    assert study.totals().number == 1
    client.close()

    def away(request):
        raise httpx.ConnectError("nobody is there")

    with (
        Client(LOCAL, transport=httpx.MockTransport(away)) as client,
        pytest.raises(ServerError, match="reached"),
    ):
        client.campaign("x").extend({})
    for status, error in ((502, ServerError), (401, AccessError), (404, DataError)):
        answer = httpx.MockTransport(lambda request, status=status: httpx.Response(status, text="<html>"))
        with Client(LOCAL, transport=answer) as client, pytest.raises(error, match=str(status)):
            client.campaign("x").extend({})


def test_prices_of_groups_reach_the_client(study):
    batch = study.ask(count=20)
    assert {p.group for p in batch if p.column in ("dose", "age")} <= {"blood"}
    assert sum(p.price for p in batch) == pytest.approx(study.totals().reserved)
    assert PRICES.groups[0].name == "blood"
