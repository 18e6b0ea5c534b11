"""Makes pictures of the pages: ``make screenshots``, or ``python -m tests.web.pages.pictures``.

Every page in light, dark and on a telephone goes to ``artefacts/``, to be looked at; four go to the docs.
"""

import tempfile
from pathlib import Path

from tests.web.pages.browsers import FLAGS, MODES, Visit, chromium_path
from tests.web.pages.studies import begin_clinic
from tests.web.servers import serving

FOLDER = Path(__file__).parents[3] / "docs" / "images"
SIZE = {"viewport": {"width": 1280, "height": 800}}
LARGEST = 150_000  # bytes
CLINIC = "/campaigns/clinic"
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
        begin_clinic(url)
        begin_clinic(url, "second", rounds=3)
        with serving(url) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
            seen = Visit(browser, server.url, "Bea", **SIZE)
            for name, path in PAGES.items():
                seen.turn("light")
                seen.look(path)
                for mode in MODES:
                    seen.turn(mode)
                    seen.page.wait_for_timeout(1000)  # guesses come after the page
                    seen.keep(f"{name}-{mode}")
            seen.turn("light")
            overview(seen)
            queue(seen)
            table(seen)
            file(seen, Path(folder))
            browser.close()


def overview(seen):
    keep(seen.look(f"{CLINIC}?preview=1&budget=60"), "overview", height=800)


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
