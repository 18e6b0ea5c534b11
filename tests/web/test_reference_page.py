"""The table of requests in the documentation against the application."""

import re
from pathlib import Path

from cellworth.web.api.routing import PREFIX
from cellworth.web.dependencies import role_of
from cellworth.web.error_responses import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "web.md"


def test_the_page_lists_every_request_with_its_role(http):
    shown = set(re.findall(r"^\| `([A-Z]+) (\S+)` \| (\w+) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    there = {
        (method, route.path.removeprefix(PREFIX), role_of(route).name.lower())
        for route in http.app.routes
        if getattr(route, "path", "").startswith(PREFIX)
        for method in route.methods
    }
    assert shown == there


def test_the_page_lists_the_kinds_of_problems():
    shown = set(re.findall(r"^\| (\d+) \| `/problems/([a-z-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    kinds = {(str(status), kind) for status, (kind, _) in KINDS.items()}
    assert shown <= kinds
    assert kinds - shown == {("400", "bad-request"), ("405", "not-possible"), ("500", "server-error")}
