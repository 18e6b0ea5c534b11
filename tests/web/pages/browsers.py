"""A real server and real browsers, which note whatever a page does that it should not."""

import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

ARTEFACTS = Path(__file__).parent / "artefacts"
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage")
MODES = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 375, "height": 800}},
}
# A browser notes each answer that is an error; those that a test asks for are expected.
_EXPECTED = re.compile(
    r"(Failed to load resource: the server responded with a status of|Response Status Error Code) "
    r"(401|403|404|409|422)"
)


def chromium_path():
    """Return where the browser is; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def cell_of(line):
    """Return the row and the column of a line of the queue."""
    row = line.evaluate("(e) => e.closest('form').elements.row.value")
    return row, line.query_selector("input[name^='column.']").input_value()


def fill(line, value):
    """Put a value into the field of a line, whatever its kind."""
    field, text = line.query_selector("[data-value]"), str(value)
    text = {"True": "true", "False": "false"}.get(text, text)
    if field.get_attribute("type") == "radio":
        line.query_selector(f"input[type=radio][value='{text}']").check()
    elif field.evaluate("(e) => e.localName") == "select":
        field.focus()  # choosing from a list does not
        field.select_option(text)
    else:
        field.fill(text)


class Visit:
    """A browser of one person at one server.

    Attributes
    ----------
    page : playwright's Page
    faults : list of str
        Errors on the console, violations of the policy, requests to other hosts.
    """

    def __init__(self, browser, address, who=None, **options):
        self.address = address
        self.faults = []
        self.context = browser.new_context(base_url=address, **{**MODES["light"], **options})
        if who is not None:
            self.context.add_cookies([{"name": "cellworth_who", "value": who, "url": address}])
        self.context.set_default_timeout(40_000)
        self.page = self.context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("dialog", self._dialog)

    def look(self, path):
        """Go to a page, and wait until its figures are drawn."""
        self.page.goto(path)
        self.settle()
        return self.page

    def turn(self, mode):
        """Change the colours and the size of the screen, and wait until figures are drawn anew."""
        options = MODES[mode]
        self.page.set_viewport_size(options["viewport"])
        self.page.emulate_media(color_scheme=options["color_scheme"])
        # The page hears of it before its next picture.
        self.page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
        self.settle()

    def settle(self):
        """Wait until summaries have come and figures are drawn."""
        self.page.wait_for_function(
            "() => !document.body.innerText.includes('being worked out')", timeout=120_000
        )
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('[data-figure]')].every((e) => e.querySelector('.main-svg'))"
        )

    def keep(self, name):
        """Keep a picture of the whole page, to be looked at."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)

    def check(self):
        """Assert that nothing went wrong since the last check."""
        faults, self.faults = self.faults, []
        assert not faults, faults

    def _console(self, message):
        if message.type in ("error", "warning") and not _EXPECTED.match(message.text):
            self.faults.append(f"{message.type}: {message.text}")

    def _request(self, request):
        parts = urlsplit(request.url)
        if (
            parts.scheme not in ("data", "blob", "about")
            and f"{parts.scheme}://{parts.netloc}" != self.address
        ):
            self.faults.append(f"request to {request.url}")

    def _dialog(self, dialog):
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()
