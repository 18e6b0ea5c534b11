"""The report on paper, in a browser: nothing is cut off, and nothing is folded."""

import importlib.util

import pytest

from cellworth.report import markup
from tests.conftest import need
from tests.web.pages.browsers import FLAGS, chromium_path

pytestmark = [pytest.mark.service, pytest.mark.latest]

PAPER = 703  # CSS pixels between the margins of A4
WIDEST = "w" * 60  # the longest text without a blank that the report lets through


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    need(importlib.util.find_spec("playwright") is not None, "playwright: pip install cellworth[dev]")
    path = chromium_path()
    need(path is not None, "a browser: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    file = tmp_path_factory.mktemp("page") / "page.html"
    line = ("12", "2026-11-16 20:54", WIDEST, WIDEST, WIDEST, "a column", "0.0123456", "1,234.50")
    ledger = markup.table("caption", [f"name {k}" for k in range(8)], [line] * 3, texts=range(1, 7))
    parts = [markup.section("heading", [markup.folded("earlier entries", [ledger])]), ledger]
    file.write_text(markup.page("title", parts, markup.STYLE + markup.CAMPAIGN), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        page = browser.new_page(viewport={"width": PAPER, "height": 1000}, color_scheme="dark")
        page.goto(file.as_uri())
        page.emulate_media(media="print")
        yield page
        browser.close()


def test_nothing_is_wider_than_the_paper(printed):
    assert printed.evaluate("document.documentElement.scrollWidth") <= PAPER
    right = "Math.max(...[...document.querySelectorAll('td, th')].map(e => e.getBoundingClientRect().right))"
    assert printed.evaluate(right) <= PAPER


def test_numbers_stay_in_one_piece(printed):
    lines = """[...document.querySelectorAll('tr td:last-child')].map(e => {
        const range = document.createRange();
        range.selectNodeContents(e);
        return range.getClientRects().length
    })"""
    assert set(printed.evaluate(lines)) == {1}


def test_details_are_open(printed):
    assert not printed.evaluate("document.querySelector('details').open")
    assert printed.evaluate("document.querySelector('details table').checkVisibility()")
    assert printed.evaluate("document.querySelector('details table').getBoundingClientRect().height") > 50


def test_ink_is_dark_whatever_the_screen(printed):
    assert printed.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_a_paragraph_stays_on_one_page(printed):
    added = "document.body.appendChild(document.createElement('p'))"
    assert printed.evaluate(f"getComputedStyle({added}).breakInside") == "avoid"
