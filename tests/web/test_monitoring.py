"""Requests have names, are counted by route, and are lines of JSON if wished."""

import json
import logging
import re
import sys

import pytest

from cellworth.web.monitoring import JsonLines, Metrics, log_settings
from tests.web.servers import api

SAMPLE = re.compile(r'(\w+)(\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? (\S+)')


def values(text):
    """Return the samples of Prometheus's text format; fail if a line is none."""
    found = {}
    for line in text.splitlines():
        if not re.fullmatch(r"# (HELP|TYPE) \w+ .+", line):
            name, labels, value = re.fullmatch(
                r'(\w+)(\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? (\S+)', line
            ).groups()
            found[name + (labels or "")] = float(value)
    return found


def test_each_request_has_a_name(http, name):
    assert http.get("/health", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    for odd in ("", "a b", "x" * 65, "é".encode()):
        assert re.fullmatch(
            "[0-9a-f]{16}", http.get("/", headers={"X-Request-ID": odd}).headers["x-request-id"]
        )
    assert http.get(api("nobody"), headers={"X-Request-ID": "abc-2"}).headers["x-request-id"] == "abc-2"


def test_requests_are_counted_by_route(http, name):
    path = 'cellworth_requests_total{method="GET",route="/api/v1/campaigns/{name}",status="200"}'
    before = values(http.get("/metrics").text).get(path, 0)
    for _ in range(3):
        http.get(api(name))
    http.request("BREW", "/pot")
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    after = values(answer.text)
    assert after[path] == before + 3
    assert after["cellworth_requests_active"] == 1  # this one
    assert not any("BREW" in key or name in key for key in after)
    total = 'cellworth_request_seconds_bucket{method="GET",route="/api/v1/campaigns/{name}",le="+Inf"}'
    assert after[total] >= 3


def test_buckets_add_up():
    metrics = Metrics()
    for seconds in (0.001, 0.005, 0.03, 99.0):
        metrics.count("GET", 'a"\\\n', 200, seconds)
    found = values(metrics.text({"more": ("Some.", 2)}))
    counts = [value for key, value in found.items() if "bucket" in key]
    assert counts == [2, 2, 3, 3, 3, 3, 3, 3, 4]
    assert found["cellworth_more"] == 2


def test_a_line_of_the_log_is_json(http, name, caplog):
    with caplog.at_level(logging.INFO, "cellworth.access"):
        http.get(api(name), headers={"Cellworth-Who": "Ann"})
    (record,) = [each for each in caplog.records if each.name == "cellworth.access"]
    line = json.loads(JsonLines().format(record))
    assert (line["method"], line["path"], line["status"], line["who"]) == ("GET", api(name), 200, "Ann")
    try:
        raise ValueError("a\nb")
    except ValueError:
        failed = logging.LogRecord("x", logging.ERROR, "", 1, "it failed", (), exc_info=sys.exc_info())
    text = JsonLines().format(failed)
    assert "\n" not in text
    assert "ValueError" in json.loads(text)["traceback"]


@pytest.mark.parametrize("kind", ["text", "json"])
def test_the_settings_can_be_used(kind, capsys):
    settings = log_settings(kind, "info")
    formatters = settings["formatters"]["lines"]
    assert ("()" in formatters) == (kind == "json")
    assert settings["loggers"]["cellworth"]["level"] == "INFO"
