"""Somebody without script: looks at pages, and sends their forms."""

import time

from tests.web.pages.html import Page

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
        for _ in range(200):
            page = self.look(path)
            if words not in page.text:
                return page
            time.sleep(0.1)
        raise AssertionError("the summary did not come")
