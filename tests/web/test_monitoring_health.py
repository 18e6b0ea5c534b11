"""Whether the server is well depends on its store; what it does is for those with a role."""

import pytest

from cellworth.errors import DataError
from cellworth.web import monitoring


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch):
    monkeypatch.setattr(monitoring, "CHECKED", 0.0)


def test_health_looks_at_the_store(http, monkeypatch):
    assert http.get("/health").json() == {"status": "ok"}

    async def unreadable():
        raise DataError("postgresql://user:secret@host is down")

    with monkeypatch.context() as broken:
        broken.setattr(http.app.state.pool, "names", unreadable)
        answer = http.get("/health")
        assert answer.status_code == 503
        assert "secret" not in answer.text
    assert http.get("/health").status_code == 200


def test_the_store_is_not_asked_each_time(http, monkeypatch):
    monkeypatch.setattr(monitoring, "CHECKED", 1000.0)
    asked = []

    async def names():
        asked.append(1)
        return []

    monkeypatch.setattr(http.app.state.pool, "names", names)
    http.app.state.checked = (-1e9, False)
    assert [http.get("/health").status_code for _ in range(5)] == [200] * 5
    assert len(asked) == 1


def test_metrics_need_a_token(outside, tokens):
    outside.cookies.clear()
    assert outside.get("/metrics").status_code == 401
    headers = {"Authorization": f"Bearer {tokens[1]['read']}"}
    assert "cellworth_worker_up" in outside.get("/metrics", headers=headers).text
    assert outside.get("/health").status_code == 200
