"""A campaign over REST: the same operations, the same errors, once by key, in pages."""

import gzip
from datetime import UTC, date, datetime, timedelta

import httpx
import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ConflictError, DataError
from cellworth.table import Table
from cellworth.web.client import AccessError, Client, ServerError
from cellworth.web.wire_format import segment
from tests.campaign.campaigns import PRICES, VALUES, answers_to, make_table
from tests.web.servers import LOCAL, until


def api(name, *parts):
    return "/".join([f"/api/v1/campaigns/{segment(name)}", *parts])


def problem(response, status):
    """Check that a response is a problem, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status
    assert found["type"].startswith("/problems/")
    assert found["title"]
    assert found["detail"]
    assert found["instance"].startswith("/")
    return found


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


def test_columns_and_rows(study, http):
    dose = study.columns()[0]
    assert (dose["kind"], dose["unit"], dose["lowest"], dose["highest"]) == ("number", "mg", 0, None)
    assert (dose["group"], dose["missing"]) == ("blood", int(make_table().holes[:, 0].sum()))
    assert study.columns()[2]["categories"] == ["I", "II", "III"]
    rows, after = [], 0
    while after is not None:
        page = http.get(api(study.name, "rows"), params={"after": after, "limit": 7}).json()
        assert len(page["items"]) <= 7
        rows, after = rows + page["items"], page["next"]
    table = make_table()
    assert [row["row"] for row in rows] == list(table.row_ids)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row["cells"]):
            value = table.columns[j].format(float(table.values[i, j]))
            assert cell["value"] == (value.isoformat() if hasattr(value, "isoformat") else value)
            assert cell["status"] == ("missing" if value is None else "known")
    with pytest.raises(DataError, match="Did you mean"):
        study.row("p100")
    problem(http.get(api(study.name, "rows", "p100")), 404)


def test_pages_of_purchases_and_filters(study, http):
    batch = study.ask(count=15, lease=None)
    study.take(batch[3:8])
    found, after, sizes = [], 0, []
    while after is not None:
        page = http.get(api(study.name, "purchases"), params={"after": after, "limit": 4}).json()
        found, after = found + page["items"], page["next"]
        sizes.append(len(page["items"]))
        if len(sizes) == 1:  # what is answered meanwhile moves nothing
            study.tell(answers_to(batch[:2]))
    assert sizes == [4, 4, 4, 3]
    assert [(p["row"], p["column"]) for p in found] == [(p.row, p.column) for p in batch]
    assert [(p.row, p.column) for p in study.purchases(holder="Ann")] == [
        (p.row, p.column) for p in batch[3:8]
    ]
    assert len(list(study.purchases(free=True))) == 15 - 2 - 5
    assert {p.column for p in study.purchases(column="age")} <= {"age"}
    assert {p.row for p in study.purchases(row=batch[9].row)} == {batch[9].row}
    assert list(study.purchases(asked_by="Bob")) == []
    csv = http.get(api(study.name, "purchases.csv"))
    assert csv.headers["content-type"].startswith("text/csv")
    assert len(csv.text.splitlines()) == 14


def test_with_a_key_it_counts_once(study, http):
    body, headers = {"count": 2}, {"Idempotency-Key": "monday"}
    answers = [http.post(api(study.name, "ask"), json=body, headers=headers).json() for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert study.totals().number == 1
    other = http.post(api(study.name, "ask"), json={"count": 3}, headers=headers)
    assert "Use a new key" in problem(other, 409)["detail"]
    cell = answers[0]["purchases"][0]
    told = {"answers": [{**{k: cell[k] for k in ("row", "column")}, "value": VALUES[cell["column"]]}]}
    for _ in range(2):
        again = http.post(api(study.name, "tell"), json=told, headers={"Idempotency-Key": "tuesday"})
        assert again.json() == {"new": 1}  # the same answer to the same request
    assert study.totals().number == 2
    problem(http.post(api(study.name, "tell"), json=told, headers=headers), 409)


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
    with pytest.raises(DataError, match="did you mean 'recommended'"):
        client.create(("t.csv", make_table().to_csv().encode()), name="x", strategy="recomended")
    both = http.post(api(study.name, "take"), json={"cells": [], "count": 1})
    assert "one of the two" in problem(both, 422)["detail"]
    assert study.totals().number == 4


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


def test_half_characters_and_huge_numbers_are_refused_in_words(study, http):
    for text in (
        b'{"answers": [{"row": "\\ud800", "column": "age", "value": 1}]}',
        b'{"answers": [{"row": "p3", "column": "age", "value": 1%s}]}' % (b"0" * 400),
        b'{"answers": [{"row": "p3", "column": "age", "value": 1e999}]}',
        b'{"answers": [{"row": "p3", "column": "hue", "value": "\\ud800"}]}',
    ):
        headers = {"Content-Type": "application/json"}
        problem(http.post(api(study.name, "tell"), content=text, headers=headers), 422)
    problem(http.post(api(study.name, "refuse"), json={"cells": [], "reason": " "}), 422)
    assert study.totals().number == 0


def test_a_new_campaign_from_files(client, http):
    table = make_table()
    content = ("table.csv", table.to_csv().encode())
    prices = ("prices.csv", b"column,price\nage,2\n(other columns),1\n")
    made = client.create(
        content, name="a/b ~2F ü", prices=prices, target="outcome", row_id=table.row_id, budget=9, seed=3
    )
    assert made.totals().budget == 9.0
    assert made.totals().missing == int(table.holes.sum())
    assert "a/b ~2F ü" in client.names()
    with pytest.raises(ConflictError, match="already"):
        client.create(content, name="a/b ~2F ü")
    with pytest.raises(DataError, match=r"^table.csv, line 3"):
        client.create(("table.csv", b"a,b\n1,2\n1\n"), name="bad")
    with pytest.raises(DataError, match=r"ends in .csv"):
        client.create(("/etc/passwd", b"a,b\n1,2\n"), name="bad")
    fields = {"name": "zipped", "missing": ["?", "n/a"]}
    packed = gzip.compress(b"a,b\n1,?\n2,n/a\n3,4\n")
    response = http.post("/api/v1/campaigns", data=fields, files={"table": ("t.csv.gz", packed)})
    assert (response.status_code, response.json()["missing"]) == (201, 2)
    assert http.get(response.headers["location"]).json()["name"] == "zipped"
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(DataError, match="MB uncompressed"):
        client.create(("t.csv.gz", bomb), name="bomb")


def test_a_file_of_answers_is_taken_whole_or_not_at_all(study, http):
    batch = study.ask(count=5)
    path = api(study.name, "tell-file")

    def send(lines, **query):
        text = "row,column,value\n" + "".join(f"{','.join(map(str, line))}\n" for line in lines)
        return http.post(path, files={"answers": ("filled.csv", text.encode())}, params=query)

    right = [(p.row, p.column, VALUES[p.column]) for p in batch]
    wrong = [right[0], (batch[1].row, batch[1].column, "nonsense"), ("nobody", "age", 1), right[3]]
    found = problem(send(wrong), 422)
    assert [(error["line"], error["field"]) for error in found["errors"]] == [(3, "value"), (4, "row")]
    assert send(right[:3], dry_run=True).json() == {"new": 3, "known": 0, "blank": 0}
    assert study.totals().number == 1
    assert send([*right[:3], (batch[3].row, batch[3].column, "")]).json() == {
        "new": 3,
        "known": 0,
        "blank": 1,
    }
    assert send(right, dry_run=True).json() == {"new": 2, "known": 3, "blank": 0}
    contradiction = [(*right[0][:2], 99 if batch[0].column == "age" else OTHER[batch[0].column])]
    for query in ({}, {"dry_run": True}):
        assert problem(send(contradiction, **query), 409)["errors"][0]["line"] == 2
    assert study.totals().number == 2


OTHER = {"dose": 1.5, "age": 99, "stage": "I", "hue": "red", "smokes": "no", "visit": "2020-01-01"}


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


def test_summaries_come_in_the_end(study):
    first = study.summary("overview")
    assert (first.data, first.renewing) == (None, True)
    until(lambda: study.summary("overview").as_of is not None, 60)
    found = study.summary("overview")
    assert (found.as_of, found.newest, found.renewing) == (0, 0, False)
    assert found.data["status"]["name"] == study.name


def test_exports_are_disarmed(client, http):
    table = Table.from_arrays(
        [["=1+1", 1.0], ["@x", None], [None, 2.0]], columns=["=cmd", "b"], row_ids=["+1", "-2", "a"]
    )
    made = client.create(("t.csv", table.to_csv().encode()), name="odd", row_id=table.row_id)
    safe = http.get(api("odd", "table.csv")).text
    for text in ("'=cmd", "'=1+1", "'@x", "'+1", "'-2"):
        assert text in safe
    assert made.table_csv() == table.to_csv()
    made.ask(count=9)
    assert "'-2" in http.get(api("odd", "purchases.csv")).text


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
