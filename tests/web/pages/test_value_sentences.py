"""What the library says of values is said on the pages in their words and their language."""

import pytest

from cellworth import strategy
from cellworth.campaign import Campaign
from cellworth.table.column import Column
from cellworth.web.pages.forms import amount, plain_number, whole
from cellworth.web.pages.library_texts import said
from cellworth.web.pages.value_sentences import STRATEGIES
from tests.campaign.campaigns import answers_to, begin
from tests.web.pages.german import english_in, message_of
from tests.web.pages.visitor import STUDY, lines


@pytest.fixture(scope="module")
def campaign():
    return begin(strategy="random")


def provoked(campaign):
    """Yield what the library says when nurses and managers make mistakes."""
    batch = campaign.ask(count=8)
    campaign.take(batch[:1], who="Cy")
    campaign.tell(answers_to(batch[1:2]))
    campaign.refuse(batch[2:3], "lost")
    campaign.cancel(batch[3:4])
    out, known, refused, back = batch[:4]
    yield message_of(lambda: campaign.tell([(out.row, out.column, "nonsense")]))
    yield message_of(lambda: campaign.take([(out.row, out.column)], who="Dee"))
    yield message_of(lambda: campaign.give_back([(out.row, out.column)], who="Dee"))
    yield message_of(lambda: campaign.take([(known.row, known.column)], who="Dee"))
    yield message_of(lambda: campaign.take([(refused.row, refused.column)], who="Dee"))
    yield message_of(lambda: campaign.take([(back.row, back.column)], who="Dee"))
    yield message_of(lambda: campaign.cancel([(known.row, known.column)]))
    yield message_of(lambda: campaign.cancel([(refused.row, refused.column)]))
    yield message_of(lambda: campaign.refuse([(known.row, known.column)], "lost"))
    yield message_of(lambda: campaign.correct(back.row, back.column, 1))
    yield message_of(lambda: campaign.tell([("nobody", "age", 1)]))
    yield message_of(lambda: campaign.tell([("p0", "agge", 1)]))
    yield message_of(lambda: campaign.change_budget(0.01))
    yield message_of(lambda: campaign.extend({"p0": {}}))
    yield message_of(lambda: amount("much", "Budget"))
    yield message_of(lambda: whole("-1", "How many"))
    yield message_of(lambda: plain_number("1,250", Column("dose", "number"), "en"))
    yield from (each.why for each in batch)
    campaign.change_stage("closed")
    yield message_of(lambda: campaign.ask(count=1))
    campaign.change_stage("open")


def test_nothing_that_people_meet_stays_english(campaign):
    for text in provoked(campaign):
        assert said(text, "de") != text
        assert english_in(text) == []


def test_questions_and_kinds_are_said(campaign):
    asked = "row 'p1', column 'age': got 999, but the 40 values known there are from 20 to 80{}{}."
    for rest in ("", " without the lowest and the highest", " without the 2 lowest and highest"):
        for also in ("", ", and none was negative"):
            assert english_in(asked.format(rest, also)) == []
    for column in (
        Column("a", "integer", bounds=(0, 120)),
        Column("a", "number", bounds=(0, float("inf"))),
        Column("a", "date"),
        Column("a", "boolean"),
        Column("a", "category", categories=("rot", "blau")),
    ):
        assert english_in(column.expected) == []


def test_english_pages_speak_of_values_not_of_holes():
    why = "known only to ±3; drawn by chance, worth 2 times the average hole for its price"
    assert said(why, "en").endswith("worth 2 times the average missing value for its price")


def test_strategies_are_described_in_the_catalogue():
    assert {strategy.get(name).summary for name in strategy.names()} <= set(STRATEGIES)


def test_a_german_page_answers_a_wrong_value_in_german(fresh):
    fresh.client.cookies.set("cellworth_language", "de")
    line = lines(fresh.look(STUDY + "/queue"))[0]
    page = fresh.send(line.form, **{"only": line.key, f"value.{line.key}": "nonsense"})
    assert "erwartet wird" in page.text
    assert "expected" not in page.text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.totals().bought == 0


def test_dates_and_numbers_in_sentences_are_written_as_their_readers_do():
    known = "but the 1,234 values known there are from 2020-01-31 to 2023-05-06."
    assert said(f"row 'p1', column 'seen': got 1923-01-05, {known}", "de") == (
        "'seen' von 'p1': 05.01.1923, aber die 1.234 bekannten Werte reichen von 31.01.2020 bis 06.05.2023."
    )


def test_changes_in_the_history_are_said():
    assert said("from open to closed", "de") == "von offen auf abgeschlossen"
    assert said("from no limit to 1,234.50 EUR", "de") == "von unbegrenzt auf 1.234,50 EUR"
    assert said("a number from -0.5 to 10", "de") == "eine Zahl von -0,5 bis 10"
