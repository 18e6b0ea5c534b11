"""Several people at once, in browsers: nothing moves under anybody's hands, and nobody's typing is lost."""

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
    return [each.get_attribute("data-key") for each in page.query_selector_all("[data-line]")]


def test_two_people_are_never_given_the_same_value(visit, queue):
    ann, bob = visit("Ann"), visit("Bob")
    for person in (ann, bob):
        person.look(queue)
        person.page.fill("#take-count", "4")
    for person in (ann, bob):
        person.page.click("text=Take them for me", no_wait_after=True)
    for person in (ann, bob):
        person.page.wait_for_selector("text=4 values are reserved for you")
    assert len(keys(ann.page)) == len(keys(bob.page)) == 4
    assert not set(keys(ann.page)) & set(keys(bob.page))


def test_nothing_moves_when_others_answer(visit, queue, site):
    page = visit("Ann").look(queue)
    before = keys(page)
    shown = page.query_selector_all("[data-line]")
    first, second, third = (cell_of(line) for line in shown[:3])
    fill(shown[0], VALUES[first[1]])
    focus = page.evaluate("() => document.activeElement.id")
    with opened(site, queue) as campaign:
        campaign.tell([(*second, VALUES[second[1]])], who="Bob")
        campaign.take([third], who="Bob")
        campaign.ask(count=3)
    page.wait_for_selector(f"#line-{before[1]}.gone")
    assert "Bob saved" in page.inner_text(f"#line-{before[1]}")
    page.wait_for_selector(f"#line-{before[2]} >> text=with Bob")
    page.wait_for_selector("text=3 new: show them")
    assert keys(page) == before
    assert page.evaluate("() => document.activeElement.id") == focus
    with opened(site, queue) as campaign:
        campaign.tell([(*first, VALUES[first[1]])], who="Bob")
    page.wait_for_selector(f"#line-{before[0]} >> text=Yours is not saved")
    assert keys(page) == before
    assert page.evaluate("() => document.activeElement.id") == focus
    page.click("text=3 new: show them")
    page.wait_for_function(
        "(n) => document.querySelectorAll('[data-line]').length === n", arg=len(before) + 1
    )


def test_what_is_typed_is_kept_over_a_reload(visit, queue):
    page = visit("Ann").look(queue)
    line = page.query_selector("[data-line]")
    key = line.get_attribute("data-key")
    fill(line, VALUES[cell_of(line)[1]])
    page.reload()
    page.wait_for_selector(f"#line-{key}.touched")
    assert "kept from before" in page.inner_text(f"#line-{key}")
    page.click(f"#line-{key} [data-save]")
    page.wait_for_selector(f"#line-{key}.saved")
    page.reload()
    assert page.query_selector(f"#line-{key}") is None


def test_a_form_older_than_the_server_is_sent_again_by_itself(visit, queue):
    """A server without tokens has a new secret after each start, so that every open form is too old."""
    page = visit("Ann").look(queue)
    page.evaluate(
        """() => document.querySelectorAll("[hx-headers]").forEach(
        (form) => form.setAttribute("hx-headers", '{"X-CSRF-Token": "old"}'))"""
    )
    line = page.query_selector("[data-line]")
    key = line.get_attribute("data-key")
    fill(line, VALUES[cell_of(line)[1]])
    page.click(f"#line-{key} [data-save]")
    page.wait_for_selector(f"#line-{key}.saved")


def test_an_ended_session_is_said_and_nothing_is_lost(visit, queue):
    page = visit("Ann").look(queue)
    page.route("**/queue/tell", lambda route: route.fulfill(status=401, body="{}"))
    line = page.query_selector("[data-line]")
    key = line.get_attribute("data-key")
    fill(line, VALUES[cell_of(line)[1]])
    page.click(f"#line-{key} [data-save]")
    page.wait_for_selector("#offline >> text=Your session has ended")
    assert "/login?to=" in page.get_attribute("#offline a", "href")
    assert page.query_selector(f"#line-{key}.touched")


def test_a_deaf_page_says_so(visit, queue):
    """The line for news is closed for good when a session has ended."""
    seen = visit("Ann")
    seen.page.route("**/events", lambda route: route.fulfill(status=401, body="{}"))
    page = seen.look(queue)
    page.wait_for_selector("#offline >> text=Your session has ended")


def test_the_overview_is_renewed_by_itself(visit, queue, site):
    page = visit("Ann").look(queue.removesuffix("/queue"))
    assert page.inner_text("#changed-section").endswith("Nothing has been answered yet.")
    with opened(site, queue) as campaign:
        out = campaign.open_purchases()
        campaign.tell([(each.row, each.column, VALUES[each.column]) for each in out[:6]], who="Bob")
        spent = campaign.spent
    page.wait_for_selector("text=6 values bought for")
    page.wait_for_selector("#curve .main-svg")
    assert f"{spent:.2f}" in page.inner_text("#tiles")
