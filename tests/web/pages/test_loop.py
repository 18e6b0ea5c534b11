"""The whole loop in a browser: begin, ask, take, answer, refuse, send a file, and the curve moves."""

import re

from cellworth.campaign import Campaign
from tests.web.pages.browsers import cell_of, fill
from tests.web.pages.studies import CLINIC, clinic_values, fill_in

PRICES = "column,price\npressure,1\nculture,18\n(other columns),5\n"


def test_from_a_table_to_a_curve(visit, site, tmp_path):
    seen = visit(None)
    page = seen.look("/")
    page.click("text=Begin a campaign")
    prices = tmp_path / "prices.csv"
    prices.write_text(PRICES)
    table = tmp_path / "clinic.csv"
    table.write_text("".join(CLINIC.read_text().splitlines(keepends=True)[:121]))
    page.set_input_files("#table", table)
    page.set_input_files("#prices", prices)
    page.click("button:text('Next')")
    page.wait_for_selector("#name")
    page.fill("#name", "the whole loop")
    for field, text in {"target": "outcome", "row_id": "id", "missing": "?", "budget": "500"}.items():
        page.fill(f"#{field}", text)
    page.click("button:text('Look again')")
    page.wait_for_selector("text=120 rows, 8 columns")
    seen.keep("loop-new")
    page.click("text=Begin the campaign")
    page.wait_for_url("**/campaigns/the%20whole%20loop")
    page.fill("#who", "Ann")
    page.click("text=That is me")
    page.wait_for_selector(".account:has-text('Ann')")

    page.fill("#budget", "120")
    page.click("text=Preview")
    page.wait_for_selector("text=Ask for these values")
    seen.keep("loop-preview")
    page.click("text=Ask for these values")
    page.wait_for_selector("text=Asked for")
    total = int(re.search(r"Asked for (\d+) values", page.inner_text("main"))[1])
    assert total > 5

    page.fill("#take-count", "3")
    page.click("text=Take them for me")
    page.wait_for_selector("text=3 values are reserved for you")
    value = clinic_values()
    line = page.query_selector("[data-line]")
    key = line.get_attribute("data-key")
    fill(line, value(*cell_of(line)))
    page.click(f"#line-{key} [data-save]")
    page.wait_for_selector(f"#line-{key}.saved")
    refused = page.query_selector("[data-line]:not(.saved)").get_attribute("data-key")
    page.click(f"#line-{refused} summary")
    page.fill(f"#comment-{refused}", "the sample is lost")
    page.press(f"#comment-{refused}", "Enter")
    page.wait_for_selector(f"#line-{refused}.refused")

    page.click(".chip:has-text('All')")
    page.wait_for_selector(f"text={total - 2} values asked for")
    page.click("#files summary")
    with page.expect_download() as download:
        page.click("text=Download as CSV")
    asks = download.value.path().read_text()
    lines = [line.split(",") for line in asks.splitlines()[1:]]
    values = {line[1]: value(line[0], line[1]) for line in lines}
    send(page, tmp_path, "wrong.csv", fill_in(asks, values, wrong=1))
    page.wait_for_selector("text=wrong.csv has 1 wrong line")
    assert "Line 2" in page.inner_text("main")
    seen.keep("loop-wrong-file")
    page.click("text=Back to the queue")
    page.click("#files summary")
    send(page, tmp_path, "answers.csv", fill_in(asks, values))
    page.wait_for_selector(f"text={total - 2} new answers")
    seen.keep("loop-file")
    page.click(f"text=Save {total - 2} answers")
    page.wait_for_selector(f"text=Saved {total - 2} answers")

    page.click("[data-go=overview]")
    page.wait_for_selector("#curve .main-svg")
    page.wait_for_selector(f"text={total - 1} values bought for")
    points = page.evaluate(
        "() => document.querySelector('#curve').data.find((t) => t.name === 'AUC').x.length"
    )
    assert points == 3  # the start, the first answer, the file
    seen.keep("loop-overview")

    with Campaign.open(site[1], "the whole loop") as campaign:
        kinds = [event["kind"] for event in campaign.history()]
        assert kinds == ["asked", "taken", "told", "refused", "told"]
        assert {event["who"] for event in campaign.history()} == {"Ann"}
        assert campaign.open_purchases() == []


def send(page, folder, name, text):
    """Send a file of answers to be checked."""
    path = folder / name
    path.write_text(text)
    page.set_input_files("#answers", path)
    page.click("text=Check the file")
