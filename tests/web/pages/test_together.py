"""Several people at once, in browsers: nobody is given another's cell, and nobody's typing is lost."""

import pytest

from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.browsers import cell_of, fill
from tests.web.pages.studies import begin


@pytest.fixture
def queue(site, request):
    """The path of the queue of a fresh campaign."""
    name = request.node.name
    with begin(site[1], name) as campaign:
        campaign.ask(count=12, who="Ann")
    return f"/campaigns/{name}/queue"


def opened(site, queue):
    return Campaign.open(site[1], queue.split("/")[2])


def keys(page):
    return {each.get_attribute("data-key") for each in page.query_selector_all("[data-card].mine")}


def test_two_people_are_never_given_the_same_cell(visit, queue):
    ann, bob = visit("Ann"), visit("Bob")
    for person in (ann, bob):
        person.look(queue)
        person.page.fill("#take-count", "4")
    for person in (ann, bob):
        person.page.click("text=Take cells for me", no_wait_after=True)
    for person in (ann, bob):
        person.page.wait_for_selector("text=4 cells are reserved for you")
    assert len(keys(ann.page)) == len(keys(bob.page)) == 4
    assert not keys(ann.page) & keys(bob.page)


def test_who_comes_second_is_told_who_has_it(visit, queue, site):
    ann = visit("Ann")
    page = ann.look(queue)
    card = page.query_selector("[data-card]")
    row, column = cell_of(card)
    with page.expect_request("**/events"):  # others' news come over this line; the click comes before them
        page.reload()
    with opened(site, queue) as campaign:
        campaign.take([(row, column)], who="Bob")
    page.click("[data-card] [data-key-action=take]")
    page.wait_for_selector("h1:has-text('Conflict')")
    assert "is with 'Bob' until" in page.inner_text("main")
    page.click("text=Back to where you were")
    page.wait_for_selector(".meta b:text('Taken by Bob')")


def test_pages_are_renewed_and_what_is_typed_stays(visit, queue, site):
    ann = visit("Ann")
    page = ann.look(queue)
    cards = page.query_selector_all("[data-card]")
    first, second = (card.get_attribute("data-key") for card in cards[:2])
    fill(cards[0], VALUES[cell_of(cards[0])[1]])
    typed = page.input_value(f"#value-{first}")
    assert typed
    with opened(site, queue) as campaign:
        out = campaign.open_purchases()
        campaign.tell([(out[1].row, out[1].column, VALUES[out[1].column])], who="Bob")
        campaign.take([(out[2].row, out[2].column)], who="Bob")
    page.wait_for_selector(f"#card-{second}", state="detached")
    page.wait_for_selector(".meta b:text('Taken by Bob')")
    assert "the page is renewed" in page.inner_text("#notification")
    assert page.input_value(f"#value-{first}") == typed
    assert page.evaluate("() => document.activeElement.id") == f"value-{first}"
    with opened(site, queue) as campaign:
        campaign.tell([(out[0].row, out[0].column, VALUES[out[0].column])], who="Bob")
    page.wait_for_selector(f"#card-{first} [data-gone]", state="visible")
    assert page.input_value(f"#value-{first}") == typed


def test_the_overview_is_renewed_by_itself(visit, queue, site):
    ann = visit("Ann")
    page = ann.look(queue.removesuffix("/queue"))
    assert page.inner_text("#changed-section").endswith("Nothing has been answered yet.")
    with opened(site, queue) as campaign:
        out = campaign.open_purchases()
        campaign.tell([(each.row, each.column, VALUES[each.column]) for each in out[:6]], who="Bob")
        spent = campaign.spent
    page.wait_for_selector("text=6 cells bought for")
    page.wait_for_selector("#curve .main-svg")
    assert f"{spent:.2f}" in page.inner_text("#tiles")
