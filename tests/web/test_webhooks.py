"""Webhooks: signed, in order, tried again, to configured addresses only, and nobody waits for them."""

import asyncio
import json

import httpx
import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ParameterError
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.notifications import Notifications
from cellworth.web.webhooks import SIGNATURE, Webhooks, check_webhooks, signature
from tests.campaign.campaigns import answers_to

URLS = ["https://one.example/hook", "https://two.example/hook"]


def play(url, answer, *, wait_for):
    """Ask and tell on a campaign with webhooks, and return what was posted to each address."""
    heard = {each: [] for each in URLS}

    def respond(request):
        heard[str(request.url)].append(request)
        return answer(str(request.url), len(heard[str(request.url)]))

    async def work():
        notifications = Notifications()
        pool = CampaignPool(url, notifications)
        transport = httpx.MockTransport(respond)
        hooks = Webhooks(URLS, "key", pool, notifications, pauses=(0.01, 0.01), transport=transport)
        hooks.start()
        batch = await pool.write("study", lambda campaign: campaign.ask(count=3, who="Ann"))
        await pool.write("study", lambda campaign: campaign.take(batch[:1], who="Bea"))
        await pool.write("study", lambda campaign: campaign.tell(answers_to(batch[:2]), who="Bea"))
        for _ in range(1000):
            if wait_for(heard):
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        notifications.close()
        await hooks.close()
        await pool.close()
        return heard

    return asyncio.run(work())


def test_each_ask_and_answer_is_posted_and_signed(url):
    with Campaign.open(url) as campaign:
        campaign.ask(count=1)  # before the server started
    heard = play(url, lambda *_: httpx.Response(204), wait_for=lambda h: all(len(v) == 2 for v in h.values()))
    for requests in heard.values():
        bodies = [json.loads(request.content) for request in requests]
        assert [(each["kind"], each["number"], each["who"], each["cells"]) for each in bodies] == [
            ("asked", 2, "Ann", 3),
            ("told", 4, "Bea", 2),
        ]
        assert {each["campaign"] for each in bodies} == {"study"}
        for request in requests:
            assert request.headers[SIGNATURE] == signature("key", request.content)


def test_what_is_not_taken_is_tried_again_and_then_dropped(url, caplog):
    def answer(where, count):
        if where == URLS[0] and count == 1:
            raise httpx.ConnectError("refused")
        return httpx.Response(500 if where == URLS[1] else 200)

    heard = play(url, answer, wait_for=lambda h: (len(h[URLS[0]]), len(h[URLS[1]])) == (3, 6))
    assert [json.loads(each.content)["kind"] for each in heard[URLS[0]]] == ["asked", "asked", "told"]
    assert [json.loads(each.content)["kind"] for each in heard[URLS[1]]] == ["asked"] * 3 + ["told"] * 3
    assert "two.example, status 500" in caplog.text


def test_addresses_and_secrets_are_checked():
    check_webhooks([], None)
    check_webhooks(URLS, "key")
    for wrong in ("ftp://a", "one.example", "http://", "http://[", "file:///etc/passwd"):
        with pytest.raises(ParameterError, match="address of http or https"):
            check_webhooks([wrong], "key")
    with pytest.raises(ParameterError, match="CELLWORTH_WEBHOOK_SECRET"):
        check_webhooks(URLS, None)
