"""Somebody without script: looks at pages, and sends their forms."""

import time
from dataclasses import dataclass

from tests.web.pages.html import Form, Page

STUDY = "/campaigns/study"


class Visitor:
    """A browser without a screen, on the application itself."""

    def __init__(self, client, who=None):
        self.client = client
        if who is not None:
            client.cookies.set("cellworth_who", who)

    def look(self, path, status=200):
        answer = self.client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == status, answer.text
        page = Page(answer.text)
        page.answer = answer
        return page

    def send(self, form, status=200, files=None, **fields):
        answer = self.client.post(
            form.action, data={**form.fields, **fields}, files=files, headers={"Accept": "text/html"}
        )
        assert answer.status_code == status, answer.text
        page = Page(answer.text)
        page.answer = answer
        return page

    def wait(self, path, words="being worked out"):
        """Look until a summary is there."""
        end = time.monotonic() + 240  # the worker is niced: on a busy machine it is slow
        while time.monotonic() < end:
            page = self.look(path)
            if words not in page.text:
                return page
            time.sleep(0.1)
        raise AssertionError("the summary did not come")


@dataclass
class ShownLine:
    """A line of the queue: its form, key, cell, and the field for its value."""

    form: Form
    key: str
    row: str
    column: str
    control: dict

    @property
    def fields(self):
        """What the form would send for this line alone."""
        return {**self.form.fields, "only": self.key}


def lines(page):
    """Return the lines of the queue on a page, in their order."""
    found = []
    for form in page.forms:
        for name in form.controls:
            kind, _, key = name.partition(".")
            if kind == "column" and key:
                control = form.controls.get(f"value.{key}", {})
                found.append(ShownLine(form, key, form.fields["row"], form.fields[name], control))
    return found
