"""Makes the pictures of the documentation: ``python -m tests.web.pages.pictures``."""

import tempfile
from pathlib import Path

from tests.web.pages.browsers import FLAGS, Visit, chromium_path
from tests.web.pages.studies import begin_clinic
from tests.web.servers import serving

FOLDER = Path(__file__).parents[3] / "docs" / "images"
SIZE = {"viewport": {"width": 900, "height": 640}}
LARGEST = 150_000  # bytes


def main():
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = f"sqlite:///{folder}/clinic.db"
        begin_clinic(url)
        with serving(url) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
            seen = Visit(browser, server.url, "Bea", **SIZE)
            overview(seen)
            queue(seen)
            file(seen, Path(folder))
            browser.close()


def overview(seen):
    page = seen.look("/campaigns/clinic")
    keep(page, "overview", height=1230)


def queue(seen):
    page = seen.look("/campaigns/clinic/queue")
    page.fill("#take-count", "3")
    page.click("text=Take cells for me")
    page.wait_for_selector("text=3 cells are reserved for you")
    keep(page, "queue", height=860)


def file(seen, folder):
    page = seen.look("/campaigns/clinic/queue")
    asked = page.request.get("/campaigns/clinic/queue.csv").text().splitlines()
    filled = [asked[0], *(f"{line}{'a lot' if k == 1 else 120}" for k, line in enumerate(asked[1:4]))]
    path = folder / "answers.csv"
    path.write_text("\n".join(filled))
    page.set_input_files("#answers", path)
    page.click("text=Check the file")
    page.wait_for_selector("h1:text('File of answers')")
    keep(page, "file", height=390)


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
