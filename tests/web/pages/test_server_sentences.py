"""German pages say in German what is wrong with the store, an address or a form."""

import sqlite3

import pytest

from cellworth.campaign import Campaign
from cellworth.web.pages.library_texts import said
from tests.campaign.campaigns import begin
from tests.web.pages.german import english_in, message_of


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "study.db"
    with begin(store=f"sqlite:///{path}", strategy="random") as campaign:
        campaign.ask(count=2)
    return path


def spoil(path, statement):
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cellworth_campaign SET settings = '{}'",
        "UPDATE cellworth_campaign SET content = x'00'",
        "UPDATE cellworth_event SET data = '{}' WHERE number = 1",
        "DELETE FROM cellworth_event WHERE number = 1",
        "UPDATE cellworth_schema SET version = 99",
        "DELETE FROM cellworth_schema",
    ],
)
def test_a_damaged_store_is_reported_in_german(store, statement):
    spoil(store, statement)
    message = message_of(lambda: Campaign.open(f"sqlite:///{store}"))
    assert said(message, "de") != message
    assert english_in(message) == [], said(message, "de")


def test_another_file_is_reported_in_german(tmp_path):
    (tmp_path / "notes.db").write_bytes(b"no database" * 99)
    for place in ("notes.db", "away/study.db"):
        message = message_of(lambda place=place: Campaign.open(f"sqlite:///{tmp_path / place}"))
        assert said(message, "de") != message


@pytest.mark.parametrize("path", ["/nowhere", "/campaigns/nobody", "/campaigns/nobody/queue", "/files/x"])
def test_a_page_that_is_not_there_is_reported_in_german(fresh, path):
    fresh.client.cookies.set("cellworth_language", "de")
    page = fresh.client.get(path, headers={"accept": "text/html"})
    assert page.status_code == 404
    assert "gibt es nicht" in page.text or "Es gibt keine" in page.text
    assert "Not Found" not in page.text
