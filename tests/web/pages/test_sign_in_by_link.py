"""A link signs in once, and not because a program looks at it."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from cellworth.web.security.tokens import LINK_PATH as PATH
from cellworth.web.security.tokens import Access, add_link, add_token, id_of

PAGE = {"Accept": "text/html"}


@pytest.fixture
def code(tokens, outside):
    outside.cookies.clear()
    made = add_link(tokens[0], id_of(tokens[1]["answer"]))
    outside.app.state.access._seen = (0.0, None)  # look at the file now
    return made


def use(client, code, shown):
    csrf = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', shown)[1]
    return client.post(PATH, data={"code": code, "csrf_token": csrf}, headers=PAGE, follow_redirects=False)


def test_a_link_signs_in_once(outside, code):
    for _ in range(2):  # looking does not use it
        shown = outside.get(PATH, params={"code": code}, headers=PAGE)
        assert "Sign in as Answer" in shown.text
    assert outside.get("/api/v1/campaigns").status_code == 401
    assert use(outside, code, shown.text).status_code == 303
    assert outside.get("/api/v1/campaigns").status_code == 200
    outside.cookies.clear()
    gone = outside.get(PATH, params={"code": code}, headers=PAGE)
    assert gone.status_code == 403
    assert "Ask for a new one" in gone.text
    assert use(outside, code, outside.get("/login", headers=PAGE).text).status_code == 403
    assert outside.get("/api/v1/campaigns").status_code == 401


@pytest.mark.parametrize("change", [lambda code: code[:-1], lambda code: "", lambda code: "cw" + code[3:]])
def test_no_other_code_will_do(outside, code, change):
    assert outside.get(PATH, params={"code": change(code)}, headers=PAGE).status_code == 403
    assert outside.post(PATH, data={"code": code}, headers=PAGE).status_code == 403  # not from our page


def test_links_and_tokens_end(tmp_path):
    path = tmp_path / "tokens.json"
    soon = datetime.now(UTC) + timedelta(hours=1)
    token = add_token(path, who="Ann", role="read", expires=soon)
    old = add_link(path, id_of(token), hours=-1)
    assert Access.from_file(path).owner_of_link(old) is None
    new = add_link(path, id_of(token))
    access = Access.from_file(path)
    assert access.owner_of_link(old) is None
    assert access.owner_of_link(new).who == access.identify(token).who == "Ann"
    path.write_text(path.read_text().replace(soon.isoformat("T", "seconds"), "2020-01-01T00:00:00+00:00"))
    over = Access.from_file(path)
    assert over.identify(token) is over.holder(id_of(token)) is over.owner_of_link(new) is None
