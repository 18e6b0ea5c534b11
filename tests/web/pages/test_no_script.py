"""Whoever has switched scripts off can still look, answer, refuse, and send a file."""

from cellworth import Prices
from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.browsers import cell_of, fill
from tests.web.pages.studies import begin, fill_in


def test_answer_without_script(visit, site, tmp_path):
    with begin(site[1], "no script", prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=5, who="Ann")
    page = visit("Bob", java_script_enabled=False).page
    page.goto("/campaigns/no%20script/queue")
    line = page.query_selector("[data-line]")
    fill(line, VALUES[cell_of(line)[1]])
    line.query_selector("[data-save]").click()
    page.wait_for_selector("text=Saved:")
    assert page.locator("[data-value]:focus").count() == 1  # goes on with the next one

    line = page.locator("[data-line]").first
    line.locator("summary").click()
    line.locator("[data-comment]").fill("lost")
    line.locator("[data-refuse]").click()
    page.wait_for_selector("text=is not available.")

    asks = page.request.get("/campaigns/no%20script/queue.csv").text()
    path = tmp_path / "answers.csv"
    path.write_text(fill_in(asks))
    page.click("#files summary")
    page.set_input_files("#answers", path)
    page.click("text=Check the file")
    page.wait_for_selector("text=3 new answers")
    page.click("text=Save 3 answers")
    page.wait_for_selector("text=Saved 3 answers")
    with Campaign.open(site[1], "no script") as campaign:
        assert [event["kind"] for event in campaign.history()] == ["asked", "told", "refused", "told"]
    for path in ("", "/table", "/map", "/manage", "/columns", "/ledger", "/rows/3"):
        page.goto(f"/campaigns/clinic{path}")
        assert page.locator("h1").count() == 1
