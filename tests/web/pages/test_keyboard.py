"""Everything can be done with the keyboard alone, and the keys do what the list of them says."""

import pytest

from cellworth import Prices
from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.browsers import cell_of, fill
from tests.web.pages.studies import begin


@pytest.fixture
def queue(site, request):
    name = request.node.name
    with begin(site[1], name, prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=6, who="Ann")
    return f"/campaigns/{name}/queue"


def focused(page):
    return page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()")


def type_value(page, column):
    """Type or choose a value in the field that has the focus, whatever its kind."""
    value = VALUES[column]
    if page.evaluate("() => document.activeElement.type") == "radio":
        page.keyboard.press("Space")
    elif column == "visit":
        page.keyboard.type("02032024")
    else:
        page.keyboard.type(str(value))


def test_answer_one_after_the_other(visit, queue, site):
    """Enter saves everywhere, also a yes or no and a category, in place, and goes on to the next."""
    page = visit("Bob", locale="en-US").look(queue)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("j")
    keys = [each.get_attribute("data-key") for each in page.query_selector_all("[data-line]")]
    address = page.url
    for k, key in enumerate(keys):
        assert focused(page).startswith(f"value-{key}")
        column = page.input_value(f"#line-{key} input[name^='column.']")
        type_value(page, column)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#line-{key}.saved")
        assert page.url == address
        if k + 1 < len(keys):
            assert focused(page).startswith(f"value-{keys[k + 1]}")
    with Campaign.open(site[1], queue.split("/")[2]) as campaign:
        assert [event["kind"] for event in campaign.history()] == ["asked", *["told"] * len(keys)]


def test_two_tab_stops_a_value(visit, queue):
    page = visit("Bob", locale="en-US").look(queue)
    keys = [each.get_attribute("data-key") for each in page.query_selector_all("[data-line]")]
    dates = {key for key in keys if page.query_selector(f"#line-{key} [type=date]")}
    page.keyboard.press("j")
    for key in keys[:-1]:
        at = []
        while (
            here := page.evaluate("() => document.activeElement.closest('[data-line]')?.dataset.key")
        ) == key:
            at.append(focused(page))
            page.keyboard.press("Tab")
        if here is None:  # the name of the next row
            page.keyboard.press("Tab")
        # A browser's own field for dates has a stop for each of its parts, and for its calendar.
        assert len(set(at)) == 2
        assert key in dates or len(at) == 2


def test_save_all_and_undo(visit, queue, site):
    page = visit("Bob", locale="en-US").look(queue)
    lines = page.query_selector_all("[data-line]")
    keys = [line.get_attribute("data-key") for line in lines]
    for line in lines[:3]:
        fill(line, VALUES[cell_of(line)[1]])
    page.wait_for_selector("#unsaved >> text=3 not saved")
    page.keyboard.press("Control+Enter")
    for key in keys[:3]:
        page.wait_for_selector(f"#line-{key}.saved")
    assert not page.is_visible("#unsaved")
    page.keyboard.press("Alt+u")
    page.wait_for_selector(".line.correcting")
    with Campaign.open(site[1], queue.split("/")[2]) as campaign:
        told = [len(event["cells"]) for event in campaign.history() if event["kind"] == "told"]
    assert sum(told) == 3


def test_not_available_by_keys(visit, queue, site):
    page = visit("Bob").look(queue)
    page.keyboard.press("j")
    key = page.evaluate("() => document.activeElement.closest('[data-line]').dataset.key")
    page.keyboard.press("Alt+r")
    page.keyboard.type("the sample is lost")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#line-{key}.refused")
    with Campaign.open(site[1], queue.split("/")[2]) as campaign:
        assert campaign.history()[-1]["reason"] == "the sample is lost"


def test_an_absurd_value_is_questioned_and_saved_by_a_second_enter(visit, site):
    with begin(site[1], "absurd", prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=int(campaign.table.holes.sum()), who="Ann")  # dates among them
    page = visit("Bob", locale="en-US").look("/campaigns/absurd/queue?column=visit")
    key = page.query_selector("[data-line]").get_attribute("data-key")
    page.fill(f"#value-{key}", "1923-01-05")
    page.press(f"#value-{key}", "Enter")
    page.wait_for_selector(f"#line-{key}.doubted")
    assert "press Enter once more" in page.inner_text(f"#line-{key}")
    for other in ("", "2023-01-05"):  # which nobody has questioned
        page.fill(f"#value-{key}", other)
        assert "press Enter once more" not in page.inner_text(f"#line-{key}")
        assert page.inner_text(f"#line-{key} .save").startswith("Save\n")
    page.fill(f"#value-{key}", "1923-01-05")
    assert page.inner_text(f"#line-{key} .save").startswith("Save anyway\n")
    page.keyboard.press("Enter")  # wherever the focus is: back at the value
    page.wait_for_selector(f"#line-{key}.saved")


def test_nobody_who_types_on_is_called_back(visit, site):
    with begin(site[1], "hasty", prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=int(campaign.table.holes.sum()), who="Ann")
    page = visit("Bob").look("/campaigns/hasty/queue?column=age")
    wrong, after = [line.get_attribute("data-key") for line in page.query_selector_all("[data-line]")[:2]]
    page.route("**/queue/tell", lambda route: (page.keyboard.type("4"), route.continue_()))
    page.fill(f"#value-{wrong}", "old")
    page.press(f"#value-{wrong}", "Enter")
    page.wait_for_selector(f"#line-{wrong}.wrong")
    assert page.evaluate("() => document.activeElement.id") == f"value-{after}"
    assert page.input_value(f"#value-{after}") == "4"


def test_shortcuts(visit, queue):
    page = visit("Bob").look(queue)
    page.keyboard.press("?")
    assert page.is_visible("#shortcuts")
    page.keyboard.press("Escape")
    assert not page.is_visible("#shortcuts")
    first, second = (each.get_attribute("data-key") for each in page.query_selector_all("[data-line]")[:2])
    for key, expected in (("j", first), ("Alt+j", second), ("Alt+k", first)):
        page.keyboard.press(key)
        assert focused(page).startswith(f"value-{expected}")
    page.keyboard.press("Alt+t")
    page.wait_for_selector(f"#line-{first}.mine")
    assert focused(page).startswith(f"value-{first}")
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


def test_chips_and_search_apply_at_once(visit, queue):
    page = visit("Bob").look(queue)
    column = page.input_value("[data-line] input[name^='column.']")
    page.click(f".chip:has-text('{column}')")
    page.wait_for_selector(f".chip[aria-current]:has-text('{column}')")
    assert f"column={column}" in page.url
    found = page.evaluate(
        "() => [...document.querySelectorAll(\"input[name^='column.']\")].map((e) => e.value)"
    )
    assert set(found) == {column}
    page.fill("#filter-row", "p1")
    page.wait_for_selector("#rows-found option", state="attached")


def test_shortcuts_can_be_switched_off(visit, queue):
    page = visit("Bob").look(queue)
    page.keyboard.press("?")
    page.uncheck("#shortcuts-on")
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("j")
    assert not focused(page).startswith("value-")


def test_the_map_by_keys(visit):
    page = visit().look("/campaigns/clinic/map")
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#map-chosen") == "P010. Enter opens it."
    page.keyboard.press("Enter")
    page.wait_for_url("**/rows/9")
    assert page.inner_text("h1").startswith("Row P010")


def test_the_map_by_pointer(visit):
    page = visit().look("/campaigns/clinic/map")
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
