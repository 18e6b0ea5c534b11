"""Everything can be done with the keyboard alone, and the keys do what the list of them says."""

import pytest

from cellworth import Prices
from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.studies import begin


@pytest.fixture
def queue(site, request):
    name = request.node.name
    with begin(site[1], name, prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=6, who="Ann")
    return f"/campaigns/{name}/queue"


def focused(page):
    return page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()")


def tab_to(page, done, most=60):
    """Press Tab until something has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if done(focused(page)):
            return
    raise AssertionError(f"the focus never came there; it is on {focused(page)!r}")


def type_value(page, column):
    """Type a value into the field that has the focus, whatever its kind."""
    value = VALUES[column]
    if page.evaluate("() => document.activeElement.localName") == "select":
        page.keyboard.type({True: "yes", False: "no"}.get(value, str(value)))
    elif column == "visit":
        page.keyboard.type("02032024")
    else:
        page.keyboard.type(str(value))


def test_answer_one_after_the_other(visit, queue, site):
    page = visit("Bob", locale="en-US").look(queue)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("Enter")
    tab_to(page, lambda at: at == "take-count")
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 cells are reserved for you")
    for _ in range(2):
        # The focus is on the field to go on with; Enter saves it, from a select by way of its button.
        assert focused(page).startswith("value-")
        column = page.evaluate("() => document.activeElement.form.elements.column.value")
        type_value(page, column)
        if page.evaluate("() => document.activeElement.localName") == "select":
            tab_to(page, lambda at: at.startswith("Save"))
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Saved:")
    with Campaign.open(site[1], queue.split("/")[2]) as campaign:
        assert [event["kind"] for event in campaign.history()] == ["asked", "taken", "told", "told"]


def test_refuse_by_keys(visit, queue, site):
    page = visit("Bob").look(queue)
    page.keyboard.press("j")
    assert focused(page).startswith("value-")
    page.keyboard.press("Alt+r")
    page.keyboard.type("the sample is lost")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=cannot be had.")
    with Campaign.open(site[1], queue.split("/")[2]) as campaign:
        assert campaign.history()[-1]["reason"] == "the sample is lost"


def test_shortcuts(visit, queue):
    page = visit("Bob").look(queue)
    page.keyboard.press("?")
    assert page.is_visible("#shortcuts")
    page.keyboard.press("Escape")
    assert not page.is_visible("#shortcuts")
    first, second = (card.get_attribute("data-key") for card in page.query_selector_all("[data-card]")[:2])
    for key, expected in (("j", first), ("Alt+j", second), ("Alt+k", first)):
        page.keyboard.press(key)
        assert focused(page) == f"value-{expected}"
    page.keyboard.press("Alt+t")
    page.wait_for_selector("text=Taken by you")
    assert focused(page) == f"value-{first}"
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("/")
    assert focused(page) == "filter-row"
    page.keyboard.type("g")  # in a field it is a letter
    page.keyboard.type("l")
    assert page.input_value("#filter-row") == "gl"
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.wait_for_url("**/ledger")


def test_shortcuts_can_be_switched_off(visit, queue):
    page = visit("Bob").look(queue)
    page.keyboard.press("?")
    page.uncheck("#shortcuts-on")
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("j")
    assert not focused(page).startswith("value-")


def test_the_map_by_keys(visit):
    page = visit().look("/campaigns/clinic/table")
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#map-chosen") == "P010. Enter opens it."
    page.keyboard.press("Enter")
    page.wait_for_url("**/rows/9")
    assert page.inner_text("h1") == "Row P010"


def test_the_map_by_pointer(visit):
    page = visit().look("/campaigns/clinic/table")
    for _ in range(20):  # a click is lost if the map is renewed at that moment
        box = page.query_selector("#map .nsewdrag").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 2)
        page.mouse.move(box["x"] + box["width"] / 2 + 1, box["y"] + 2)
        page.wait_for_selector("#map .hovertext")
        page.mouse.down()
        page.mouse.up()
        page.wait_for_timeout(500)
        if "/rows/" in page.url:
            break
    page.wait_for_url("**/rows/0")


def test_the_focus_can_be_seen(visit):
    page = visit().look("/campaigns/clinic")
    for _ in range(8):
        page.keyboard.press("Tab")
        width = page.evaluate("() => getComputedStyle(document.activeElement).outlineWidth")
        assert int(width.removesuffix("px")) >= 2
