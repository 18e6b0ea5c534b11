"""Every page in a real browser, light, dark and narrow: no fault, nothing off the screen or hard to use.

Pictures of all of them are kept in ``artefacts/``, to be looked at.
"""

import pytest

from cellworth.web.url_paths import segment
from tests.web.pages.browsers import MODES, Visit
from tests.web.pages.studies import HOSTILE_NAME

CLINIC = "/campaigns/clinic"
HOSTILE = f"/campaigns/{segment(HOSTILE_NAME)}"
PAGES = {
    "list": "/",
    "new": "/new",
    "overview": CLINIC,
    "preview": f"{CLINIC}?preview=1&budget=60",
    "queue": f"{CLINIC}/queue",
    "queue-kinds": "/campaigns/kinds/queue",
    "print": f"{CLINIC}/queue/print",
    "table": f"{CLINIC}/table",
    "map": f"{CLINIC}/map",
    "part": f"{CLINIC}/map?first=20&last=40",
    "manage": f"{CLINIC}/manage",
    "row": f"{CLINIC}/rows/3",
    "columns": f"{CLINIC}/columns",
    "ledger": f"{CLINIC}/ledger",
    "next": f"{CLINIC}/next",
    "problem": "/campaigns/nobody",
    "hostile-overview": HOSTILE,
    "hostile-queue": f"{HOSTILE}/queue",
    "hostile-table": f"{HOSTILE}/table",
    "hostile-map": f"{HOSTILE}/map",
    "hostile-manage": f"{HOSTILE}/manage",
    "hostile-row": f"{HOSTILE}/rows/29",
    "hostile-columns": f"{HOSTILE}/columns",
    "hostile-ledger": f"{HOSTILE}/ledger",
}
TOO_SMALL = 24  # pixels, by WCAG 2.2


@pytest.fixture(scope="module")
def axe():
    from axe_playwright_python.sync_playwright import Axe

    return Axe()


@pytest.fixture(scope="module")
def seen(chromium, site):
    """One browser for all pages: what it has loaded once it keeps."""
    visit = Visit(chromium, site[0], "Ann")
    yield visit
    visit.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_every_page(seen, axe, name):
    hostile = name.startswith("hostile")  # looked at once: what these add is the names
    seen.turn("light")
    page = seen.look(PAGES[name])
    for mode in ("light",) if hostile else MODES:
        seen.turn(mode)
        if not hostile:
            seen.keep(f"{name}-{mode}")
        width = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{mode}: {width[0] - width[1]} pixels are outside the screen"
        check_figures(page)
        check_targets(page)
        if mode != "narrow":
            check_use(axe, page)
    page.goto("about:blank")  # whatever the page still had to say is noted by now
    seen.check()


def check_figures(page):
    for figure in page.query_selector_all("[data-figure]"):
        assert figure.bounding_box()["height"] > 150
        assert figure.query_selector_all(".main-svg path, .main-svg image")


def check_targets(page):
    """Assert that whatever can be pressed is large enough for a finger."""
    small = page.evaluate(
        """(least) => [...document.querySelectorAll("button, .button, summary, select, input")]
        .filter((e) => e.type !== "hidden" && e.checkVisibility() && !e.closest("dialog, .visually-hidden"))
        .filter((e) => !e.matches(".visually-hidden"))
        .map((e) => [e.outerHTML.slice(0, 100), e.getBoundingClientRect()])
        .filter(([_, box]) => box.width < least || box.height < least)""",
        TOO_SMALL,
    )
    assert small == []


def check_use(axe, page):
    """Assert that axe finds nothing: names, labels, roles, contrast, landmarks."""
    found = axe.run(page).response
    assert len(found["passes"]) > 10  # it did look
    wrong = found["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in wrong] == []


def test_a_screen_of_the_queue_has_a_dozen_values(visit):
    page = visit().look("/campaigns/kinds/queue")
    seen = page.evaluate(
        """() => [...document.querySelectorAll("[data-line]")]
        .filter((line) => line.getBoundingClientRect().bottom <= innerHeight).length"""
    )
    assert seen >= 12


def test_hostile_names_are_shown_as_they_are(visit):
    seen = visit()
    page = seen.look(f"{HOSTILE}/table")
    assert "<script>alert(1)</script>" in page.inner_text("main")
    assert page.query_selector("main img") is None
    page = seen.look(f"{HOSTILE}/map")
    assert page.query_selector_all("main script:not([type='application/json'])") == []
    page.hover("#map")


def test_the_colours_follow_the_reader(visit):
    seen = visit()
    page = seen.look(CLINIC)

    def ground():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light, line = ground(), page.evaluate("() => document.querySelector('#curve .xtick text').style.fill")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "(before) => ![before, undefined].includes(document.querySelector('#curve .xtick text')?.style.fill)",
        arg=line,
    )
    assert ground() != light


def test_reduced_motion(visit):
    page = visit(reduced_motion="reduce").look(CLINIC)
    assert page.evaluate("() => matchMedia('(prefers-reduced-motion: reduce)').matches")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")]
        .filter((e) => getComputedStyle(e).transitionDuration !== "0s").length"""
    )
    assert moving == 0
