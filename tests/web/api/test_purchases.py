"""Cells by REST: in pages and by filters, once by key, and answers from files."""

import pytest

from cellworth import StopRule
from cellworth.errors import DataError
from cellworth.forecasting import StopWarning
from tests.campaign.campaigns import VALUES, answers_to
from tests.web.servers import api, problem


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
    assert send(right[:3], dry_run=True).json() == {"new": 3, "known": 0, "blank": 0, "questioned": []}
    assert study.totals().number == 1
    assert send([*right[:3], (batch[3].row, batch[3].column, "")]).json() == {
        "new": 3,
        "known": 0,
        "blank": 1,
        "questioned": [],
    }
    assert send(right, dry_run=True).json() == {"new": 2, "known": 3, "blank": 0, "questioned": []}
    contradiction = [(*right[0][:2], 99 if batch[0].column == "age" else OTHER[batch[0].column])]
    for query in ({}, {"dry_run": True}):
        assert problem(send(contradiction, **query), 409)["errors"][0]["line"] == 2
    assert [each["kind"] for each in study.history()] == ["asked", "told", "contradicted"]


OTHER = {"dose": 1.5, "age": 99, "stage": "I", "hue": "red", "smokes": "no", "visit": "2020-01-01"}


def test_an_ask_obeys_a_rule_and_says_why(study, http):
    with pytest.warns(StopWarning, match="Nothing was asked for"):
        assert study.ask(count=2, until=StopRule(least_gain=1.0)) == []
    body = {"count": 2, "until": {"least_gain": 1e-9}}
    found = http.post(api(study.name, "ask"), json=body).json()
    assert (len(found["purchases"]), found["stop"]) == (2, None)
    both = {"count": 2, "until": {"reach": 0.9, "point_worth": 1.0}}
    assert http.post(api(study.name, "ask"), json=both).status_code == 422


def test_absurd_answers_are_questioned(study, http):
    wanted = [each for each in study.ask(count=40) if each.column == "dose"]
    cell = (wanted[0].row, "dose")
    with pytest.raises(DataError, match=r'got 1000000000.0, but the .*insist: "insist": true'):
        study.tell({cell: 1e9})
    content = f"row,column,value\n{cell[0]},dose,1e9\n".encode()
    sent = {"answers": ("answers.csv", content)}
    refused = problem(http.post(api(study.name, "tell-file"), files=sent), 422)
    assert refused["errors"][0]["line"] == 2
    dry = http.post(api(study.name, "tell-file"), files=sent, params={"dry_run": True}).json()
    assert (dry["new"], [each["line"] for each in dry["questioned"]]) == (1, [2])
    assert http.post(api(study.name, "tell-file"), files=sent, params={"insist": True}).json()["new"] == 1
    assert study.tell({cell: 1e9}) == 0
    with pytest.raises(DataError, match="insist"):
        study.correct(*cell, 5e12)
    assert study.correct(*cell, 5e12, insist=True)
    if len(wanted) > 1:
        assert study.tell({(wanted[1].row, "dose"): 1e12}, insist=True) == 1


def test_taking_counts_once_by_key_and_has_an_end(study, http, outside, tokens):
    study.ask(count=6, lease=None)
    headers, me = {"Idempotency-Key": "take 1"}, {"Cellworth-Who": "Ann"}
    sent = [
        http.post(api(study.name, "take"), json={"count": 2}, headers={**headers, **me}) for _ in range(2)
    ]
    assert sent[0].json() == sent[1].json()
    assert study.totals().number == 2
    assert len(list(study.purchases(holder="Ann"))) == 2
    other = http.post(api(study.name, "take"), json={"count": 3}, headers={**headers, **me})
    assert "Use a new key" in problem(other, 409)["detail"]
    cell = sent[0].json()["purchases"][0]
    study.tell({(cell["row"], cell["column"]): VALUES[cell["column"]]})
    left = http.post(api(study.name, "take"), json={"count": 2}, headers={**headers, **me}).json()
    assert left["purchases"] == sent[0].json()["purchases"][1:]  # what is still out
    for role, lease, status in (
        ("answer", "9999d", 403),
        ("answer", "7d", 200),
        ("manage", "9999d", 200),
    ):
        token = {"Authorization": f"Bearer {tokens[1][role]}"}
        body = {"count": 1, "lease": lease}
        answer = outside.post("/api/v1/campaigns/study/take", json=body, headers=token)
        assert answer.status_code == status, (role, lease)


def test_all_wrong_answers_are_named(study, http):
    batch = study.ask(count=3)
    cells = [{"row": each.row, "column": each.column} for each in batch]
    answers = [
        {**cells[0], "value": VALUES[batch[0].column]},
        {"row": "nobody", "column": batch[0].column, "value": 1},
        {**cells[1], "column": "no such", "value": 1},
        {**cells[2], "value": "certainly not"},
    ]
    found = problem(http.post(api(study.name, "tell"), json={"answers": answers}), 422)
    assert [each["field"] for each in found["errors"]] == [f"body.answers.{k}" for k in (1, 2, 3)]
    assert "no row 'nobody'" in found["errors"][0]["message"]
    assert found["detail"] == found["errors"][0]["message"]
    assert study.totals().bought == 0


def test_what_is_unknown_is_refused(study, http):
    study.ask(count=3)
    detail = problem(http.get(api(study.name, "purchases"), params={"colum": "age"}), 422)["detail"]
    assert "There is no parameter 'colum' here; there are: after, asked_by, column" in detail
    for query in ({"column": "agee"}, {"row": "p100"}):
        problem(http.get(api(study.name, "purchases"), params=query), 422)
    problem(http.post(api(study.name, "tell"), json={"answers": []}, params={"x": 1}), 422)
    counts = http.get(api(study.name, "purchases", "counts")).json()
    assert (counts["total"], counts["free"], sum(counts["columns"].values())) == (3, 3, 3)


def test_a_preview_needs_the_role_of_an_ask(outside, tokens):
    for role, status in (("read", 403), ("answer", 403), ("manage", 200)):
        token = {"Authorization": f"Bearer {tokens[1][role]}"}
        answer = outside.post("/api/v1/campaigns/study/preview", json={"count": 0}, headers=token)
        assert answer.status_code == status, role
