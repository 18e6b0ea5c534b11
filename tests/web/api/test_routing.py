"""The interface against its own description, and files that were damaged on the way."""

import csv
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from cellworth.campaign import Campaign
from cellworth.web import create_app
from cellworth.web.api.routing import describe
from tests.campaign.campaigns import PRICES, VALUES, make_table
from tests.cli.mutants import mutant
from tests.web.servers import api, begin, problem, serving

schemathesis = pytest.importorskip("schemathesis")
openapi_checks = pytest.importorskip("schemathesis.specs.openapi.checks")

MUTANTS = 200
# Left out: that what fits the schema is accepted (names and values must also be those of the table), and
# that a 405 lists all methods of a path (Starlette lists those of its first route).
CHECKS = [
    schemathesis.checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_headers_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.negative_data_rejection,
]


# The store is opened when the application starts, which this one never does.
SCHEMA = schemathesis.openapi.from_dict(describe(create_app("sqlite:///never-opened.db")))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    address = f"sqlite:///{tmp_path_factory.mktemp('fuzzed')}/study.db"
    begin(address, make_table(12), prices=PRICES, budget=20.0, strategy="random")
    with serving(address, quick=True) as running:
        yield running


@SCHEMA.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described_and_no_error_is_ours(case, server):
    if case.path_parameters and "name" in case.path_parameters:
        case.path_parameters["name"] = "study"  # most are about a campaign that is there
    response = case.call(base_url=server.url)
    assert response.status_code < 500
    case.validate_response(response, checks=CHECKS)


def test_the_description_has_it_all(http):
    document = http.get("/api/v1/openapi.json").json()
    assert document == describe(http.app)
    operations = [(m, p) for p, methods in document["paths"].items() for m in methods]
    assert len(operations) >= 20
    for _, path in operations:
        assert path.startswith("/api/v1/")
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert {"401", "403", "422"} <= set(operation["responses"])
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert list(response["content"]) == ["application/problem+json"]
    assert "ProblemOut" in document["components"]["schemas"]


def test_damaged_files_are_taken_whole_or_refused_whole(study, http, shared_url):
    """Each of some hundred damaged files is a right answer or a problem; nothing in between is recorded."""
    batch = study.ask(count=12, lease=None)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "column", "value"])
    writer.writerows((p.row, p.column, VALUES[p.column]) for p in batch)
    rng = np.random.default_rng(5)
    statuses = []
    with Campaign.open(shared_url, study.name) as campaign:
        for turn in range(MUTANTS):
            content, before = mutant(text.getvalue(), rng), campaign.number
            # Most are looked at only: what was recorded once cannot be recorded again.
            query = {"dry_run": turn % 10 != 0}
            response = http.post(
                api(study.name, "tell-file"), files={"answers": ("a.csv", content)}, params=query
            )
            statuses.append(response.status_code)
            if response.status_code != 200:
                found = problem(response, response.status_code)
                assert response.status_code in (409, 422), content
                assert found["detail"].startswith("a.csv"), (content, found)
            recorded = campaign.number > before
            new = response.json()["new"] if response.status_code == 200 else 0
            assert recorded == (new > 0 and not query["dry_run"]), content
    assert {200, 422} <= set(statuses)


def test_damaged_tables_begin_no_campaign(client, http):
    text = make_table(10).to_csv()
    rng = np.random.default_rng(6)
    before = set(client.names())
    for turn in range(60):
        response = http.post(
            "/api/v1/campaigns",
            data={"name": f"mutant {turn}", "strategy": "random"},
            files={"table": ("t.csv", mutant(text, rng))},
        )
        assert response.status_code in (201, 413, 422), response.text
        if response.status_code != 201:
            problem(response, response.status_code)
        there = f"mutant {turn}" in client.names()
        assert there == (response.status_code == 201)
    assert len(set(client.names()) - before) > 0
