"""Makes pictures of the pages: ``make screenshots``, or ``python -m tests.web.pages.pictures``.

Every page in light, dark and on a telephone goes to ``artefacts/``, to be looked at; four go to the docs.
"""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cellworth import demo
from cellworth.web.security.tokens import add_token
from tests.web.pages.browsers import FLAGS, MODES, Visit, chromium_path
from tests.web.pages.studies import CLINIC as CLINIC_FILE
from tests.web.pages.studies import begin_clinic
from tests.web.servers import serving

FOLDER = Path(__file__).parents[3] / "docs" / "images"
SIZE = {"viewport": {"width": 1280, "height": 800}}
LARGEST = 150_000  # bytes
CLINIC = "/campaigns/clinic"
DEMO = "/campaigns/demo"
ROUNDS = 4  # of the demo that are played; the money is for two more
PAGES = {
    "list": "/",
    "new": "/new",
    "overview": f"{CLINIC}?preview=1&budget=60",
    "queue": f"{CLINIC}/queue",
    "print": f"{CLINIC}/queue/print",
    "table": f"{CLINIC}/table",
    "map": f"{CLINIC}/map",
    "row": f"{CLINIC}/rows/17",
    "columns": f"{CLINIC}/columns",
    "ledger": f"{CLINIC}/ledger",
    "manage": f"{CLINIC}/manage",
    "next": f"{CLINIC}/next",
    "compare": "/compare?name=clinic&name=second",
    "people": "/people",
}


def main():
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = f"sqlite:///{folder}/clinic.db"
        said = {"row_word": "patient", "currency": "EUR"}
        begin_clinic(url, **said)
        begin_clinic(url, "second", rounds=3, **said)
        begin_demo(url)
        tokens = Path(folder) / "tokens.json"
        token = add_token(tokens, who="Ann", role="manage")
        add_token(tokens, who="Bea", role="answer", expires=datetime(2031, 12, 31, tzinfo=UTC))
        with serving(url) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
            seen = Visit(browser, server.url, "Bea", **SIZE)
            for name, path in PAGES.items():
                seen.turn("light")
                seen.look(path)
                in_all_modes(seen, name)
            seen.turn("light")
            settings(seen)
            overview(seen)
            queue(seen)
            table(seen)
            file(seen, Path(folder))
        with serving(url, "--tokens", str(tokens)) as server:
            seen = Visit(browser, server.url, **SIZE)
            seen.look("/login")
            in_all_modes(seen, "login")
            seen.turn("light")
            seen.page.fill("#token", token)
            seen.page.click("main form button")
            seen.look("/people")
            seen.page.fill("#token-who", "Nurse Joy")
            seen.page.click("text=Make a token")
            seen.page.wait_for_selector("text=shown only now")
            in_all_modes(seen, "people-with-tokens")
        browser.close()


def begin_demo(url):
    """Play some rounds of the demo, whose scores rise, and leave a batch open."""
    shown = demo.run_demo()
    shown = replace(shown, prices=replace(shown.prices, currency="EUR"))
    with demo.begin_campaign(shown, url, rounds=ROUNDS + 2) as campaign:
        list(demo.play(campaign, shown, rounds=ROUNDS))
        campaign.ask(150.0, who="Ann")


def in_all_modes(seen, name):
    """Keep the page that is open in light, dark and on a telephone."""
    for mode in MODES:
        seen.turn(mode)
        seen.page.wait_for_timeout(1000)  # guesses come after the page
        seen.keep(f"{name}-{mode}")


def settings(seen):
    """A new campaign, once its table has been read."""
    page = seen.look("/new")
    page.set_input_files("#table", CLINIC_FILE)
    page.click("main form button")
    page.wait_for_selector("#target")
    for field, value in {"target": "outcome", "row_id": "id", "missing": "?"}.items():
        page.fill(f"#{field}", value)
    page.click("button[value=look]")
    page.wait_for_selector("#columns-title")
    # A bar that stays at the lower edge of a screen has no place in a picture of the whole page.
    page.evaluate("() => { document.querySelector('.sticky').style.position = 'static'; }")
    in_all_modes(seen, "new-settings")
    seen.turn("light")


def overview(seen):
    keep(seen.look(f"{DEMO}?preview=1&budget=200"), "overview", height=800)


def queue(seen):
    page = seen.look(f"{CLINIC}/queue")
    page.wait_for_function("() => [...document.querySelectorAll('[data-guess]')].some((e) => e.textContent)")
    keep(page, "queue", height=420)


def table(seen):
    page = seen.look(f"{CLINIC}/table")
    page.wait_for_selector(".grid td.estimated:not(:empty)")
    keep(page, "table", height=560)


def file(seen, folder):
    page = seen.look(f"{CLINIC}/queue")
    asked = page.request.get(f"{CLINIC}/queue.csv").text().splitlines()
    filled = [asked[0], *(f"{line}{'a lot' if k == 1 else 120}" for k, line in enumerate(asked[1:4]))]
    path = folder / "answers.csv"
    path.write_text("\n".join(filled))
    page.click("#files summary")
    page.set_input_files("#answers", path)
    page.click("text=Check the file")
    page.wait_for_selector("h1:text('File of answers')")
    keep(page, "file", height=300)


def keep(page, name, height):
    """Keep the page down to a height, once it is quiet."""
    path = FOLDER / f"web-{name}.png"
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.set_viewport_size({**SIZE["viewport"], "height": height})
    page.wait_for_function("() => document.getElementById('notification').textContent === ''")
    page.wait_for_timeout(500)
    page.screenshot(path=path)
    page.set_viewport_size(SIZE["viewport"])
    assert path.stat().st_size < LARGEST, f"{path} has {path.stat().st_size} bytes"


if __name__ == "__main__":
    main()
