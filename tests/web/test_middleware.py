"""HEAD says what GET would, and what a program has is not sent again."""

import pytest

from tests.web.servers import api


def test_what_is_known_is_not_sent_again(study, http):
    path = api(study.name)
    first = http.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "no-store"  # for browsers, which may not keep it
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = http.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert http.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    study.ask(count=1)
    changed = http.get(path, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    "path", ["{api}", "{api}/table.csv", "/", "/health", "/static/style.css", "/metrics"]
)
def test_head_is_get_without_a_body(study, http, path):
    path = path.format(api=api(study.name))
    head, get = http.head(path), http.get(path)
    assert (head.status_code, head.content) == (200, b"")
    if path != "/metrics":  # whose counts have changed in between
        for name in ("content-type", "content-length", "etag"):
            assert head.headers.get(name) == get.headers.get(name), name


def test_problems_have_no_tag(http):
    answer = http.get(api("nobody"))
    assert answer.status_code == 404
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert http.head(api("nobody")).status_code == 404
    assert http.head("/campaigns/nobody/events").status_code in (404, 405)  # a stream has no end
