"""The page for one row: what is known, what next, and back into the table."""

from cellworth import Prices
from cellworth.campaign import Campaign
from tests.campaign.campaigns import begin, gaussian_table
from tests.web.pages.visitor import STUDY


def test_what_next_and_keep(fresh):
    page = fresh.look(STUDY + "/next")
    form = page.form(STUDY + "/next")
    page = fresh.send(form, v1="61", confidence="99.9")
    assert "once all is known" in page.answer.text
    assert 'id="advice"' in page.answer.text
    assert 'value="61"' in page.answer.text
    assert (
        'id="advice"' in fresh.send(form, v0="21,5", confidence="99.9").answer.text
    )  # a comma, to the worker
    wrong = fresh.send(form, v1="old", confidence="99")
    assert "expected a whole number" in wrong.answer.text
    assert wrong.answer.request.method == "GET"  # it can be loaded again
    assert 'value="old"' in wrong.answer.text  # what was typed is still there
    assert "expected an amount" in fresh.send(form, budget="much").answer.text
    for share in ("much", "101", "0", "-5"):
        page = fresh.send(form, confidence=share).text
        assert f"A probability is above 0 and at most 100 %, not '{share}'." in page
    form.action = STUDY + "/next/keep"
    assert "Give the row a name" in fresh.send(form, v1="61").answer.text
    fresh.send(form, v1="61", row="q1")
    with Campaign.open(fresh.url) as campaign:
        assert campaign.row("q1").cells[1].value == 61
    shown = fresh.look(STUDY + "/next?row=q1")
    assert 'value="61"' in shown.answer.text
    form = shown.form(STUDY + "/next")
    form.action = STUDY + "/next/keep"
    fresh.send(form, row="q1", v0="21,5")  # a decimal comma is one
    with Campaign.open(fresh.url) as campaign:
        assert campaign.row("q1").cells[0].value == 21.5


def test_an_advice_is_a_page_of_its_own_to_which_browsers_go_back(fresh):
    page = fresh.send(fresh.look(STUDY + "/next").form(STUDY + "/next"), v1="61", confidence="99.9")
    assert page.answer.request.method == "GET"
    assert 'id="advice"' in fresh.look(str(page.answer.url)).answer.text


def test_how_exact_a_number_must_be_is_not_guessed(fresh):
    begin(
        gaussian_table(40, kind="number")[0], prices=Prices.same(1.0), store=fresh.url, name="numbers"
    ).close()
    for name, usual in (("study", "90"), ("numbers", "")):
        form = fresh.look(f"/campaigns/{name}/next").form("/next")
        assert form.fields["confidence"] == usual


def test_amounts_have_the_currency_of_the_prices(fresh):
    begin(store=fresh.url, name="euros", prices=Prices.same(2, currency="EUR")).close()
    for name, has_currency in ((STUDY, False), ("/campaigns/euros", True)):
        page = fresh.look(f"{name}/next").text
        for label in ("An error costs", "Most to spend on a row", "To spend on a row on average"):
            assert (f"{label} (EUR)" in page) is has_currency


def test_a_value_far_outside_those_known_is_questioned(fresh):
    """As in the queue: most of them are slips, and the advice would rest on it."""
    form = fresh.look(STUDY + "/next").form(STUDY + "/next")
    page = fresh.send(form, v5="1900-01-01", confidence="90").answer.text
    assert "1900-01-01 is far outside the" in page
    assert 'id="advice"' in page
    assert "is far outside" not in fresh.send(form, v5="2024-01-09", confidence="90").answer.text


def test_why_it_is_enough_is_a_sentence(fresh):
    form = fresh.look(STUDY + "/next").form(STUDY + "/next")
    page = fresh.send(form, v1="61", confidence="1").answer.text
    assert "<p>A probability of" in page
