"""Whole errands in a real browser, of a nurse on a telephone and of a manager; and what interrupts them."""

import random
import re
import socket

import pytest

from cellworth import Prices
from cellworth.campaign import Campaign
from cellworth.web.security.tokens import LOOK_AGAIN, add_token, list_tokens, remove_token
from tests.campaign.campaigns import VALUES
from tests.web.pages.browsers import MODES, Visit, cell_of, fill
from tests.web.pages.studies import begin
from tests.web.servers import serving

pytestmark = pytest.mark.slow


def study(url, name="study", count=12):
    with begin(url, name, prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=count, who="Ann")
    return f"/campaigns/{name}/queue"


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def test_twenty_values_on_a_telephone(visit, site):
    """A nurse answers one value after the other by thumb; nothing is covered, or wider than the screen."""
    queue = study(site[1], "telephone", count=20)
    page = visit("Bea", **MODES["narrow"], has_touch=True, is_mobile=True).look(queue)
    keys = [each.get_attribute("data-key") for each in page.query_selector_all("[data-line]")]
    assert len(keys) == 20
    for key in keys:
        line = page.query_selector(f"#line-{key}")
        fill(line, VALUES[cell_of(line)[1]])
        page.tap(f"#line-{key} [data-save]")  # fails if something covers it
        page.wait_for_selector(f"#line-{key}.saved")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 375
    page.goto(queue.replace("/queue", "/manage"))  # the last of the tabs is scrolled to
    box = page.locator(".masthead [aria-current]").bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 375
    with Campaign.open(site[1], "telephone") as campaign:
        assert campaign.totals().bought == 20


def odd_file(path):
    """Write a file as a German spreadsheet does: semicolons, decimal commas, 31.12.2020, Windows-1252."""
    rng = random.Random(0)
    lines = ["Patient;Größe;Gewicht;Blutdruck;Aufnahme;Stadium;Befund"]
    for i in range(40):
        values = [f"{rng.gauss(1.7, 0.1):.2f}", f"{rng.gauss(75, 12):.1f}", f"{rng.gauss(130, 15):.0f}"]
        values = [
            *(value.replace(".", ",") for value in values),
            f"{1 + i % 28:02}.03.2024",
            ["früh", "spät"][i % 2],
        ]
        shown = ["" if i > 5 and rng.random() < 0.3 else value for value in values]
        lines.append(
            ";".join([f"P{i:03}", *shown, "" if i % 9 == 8 else ["krank", "gesund"][rng.random() < 0.5]])
        )
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


def test_a_manager_founds_leads_and_ends_a_campaign(visit, tmp_path):
    """From an odd file to the archive; the file is read right at once, and comes back as it was written."""
    seen = visit("Mona", accept_downloads=True)
    page = seen.page
    page.goto("/new")
    page.set_input_files("#table", odd_file(tmp_path / "klinik.csv"))
    page.click("button.main")
    page.wait_for_selector("#columns-title")
    found = [
        page.input_value(f"#{field}") for field in ("delimiter", "decimal", "encoding", "date_format", "name")
    ]
    assert found == [";", ",", "cp1252", "DD.MM.YYYY", "klinik"]
    page.fill("#target", "Befund")
    page.fill("#row_id", "Patient")
    page.select_option("[aria-label='kind: Stadium']", "ordered")
    page.click("button[value=look]")
    page.wait_for_selector("[aria-label='price: Befund']")
    assert page.input_value("[aria-label^='categories'][aria-label$='Stadium']") == "früh, spät"
    page.fill("[aria-label='description: Blutdruck']", "systolisch, im Sitzen")
    page.fill("[aria-label='price: Blutdruck']", "2,50")
    page.fill("[aria-label='price: Befund']", "1,50")  # labels are for sale, too
    page.fill("#currency", "eur")
    page.fill("#budget", "1.500")
    page.click("button[value=begin]")
    assert "1.500 may be read in two ways" in page.inner_text("#page-note")
    assert page.input_value("[aria-label='description: Blutdruck']") == "systolisch, im Sitzen"
    page.fill("#budget", "100")
    page.click("button[value=begin]")
    page.wait_for_url("**/campaigns/klinik")
    page.fill("#budget", "30")
    page.click("text=Preview")
    page.click("text=Ask for these values", timeout=120_000)
    page.wait_for_url("**/queue*")
    assert "EUR" in page.inner_text(".visits")
    assert "1.50 EUR" in page.inner_text(".visits") or "2.50 EUR" in page.inner_text(".visits")
    page.goto("/campaigns/klinik/manage")
    page.fill("#budget", "250")
    page.fill("#budget-reason", "more money")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The budget is changed")
    with page.expect_download(timeout=120_000) as download:
        page.click("a[href$='files/filled.csv']")
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0] == "Patient;Größe;Gewicht;Blutdruck;Aufnahme;Stadium;Befund"
    assert all(
        re.fullmatch(r"P\d{3};\d,\d+;\d+(,\d+)?;\d+;\d\d\.03\.2024;(früh|spät);.*", line)
        for line in lines[1:]
    )
    page.fill("#stage-reason", "the study is over")
    page.keyboard.press("Enter")  # ends nothing
    page.click("text=Close it")
    page.wait_for_selector("#closed-note")
    assert page.inner_text("main").count("closed: it can be read") == 1
    page.click("text=Archive it")
    page.wait_for_selector("text=This campaign is archived")
    page.goto("/")
    assert "klinik" not in page.inner_text("main")
    page.click("text=Archived")
    assert "klinik" in page.inner_text("main")


def test_enter_in_the_reason_ends_no_campaign(visit, site):
    study(site[1], "reason")
    page = visit("Ann").look("/campaigns/reason/manage")
    page.fill("#stage-reason", "only a note")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    with Campaign.open(site[1], "reason") as campaign:
        assert campaign.stage == "open"


def test_yes_and_no_and_numbers_in_the_readers_language(visit, site):
    """A German reads ja, nein and decimal commas, wherever a value is shown."""
    study(site[1], "german")
    with Campaign.open(site[1], "german") as campaign:
        table = campaign.table
        place = int(
            (~table.holes[:, [table.column_index(c) for c in ("smokes", "dose")]]).all(axis=1).argmax()
        )
        row = table.row_ids[place]
        smokes = table.values[place, table.column_index("smokes")]
    page = visit("Ann", locale="de-DE").look("/campaigns/german/table")
    cells = {cell.inner_text() for cell in page.query_selector_all(".grid td:not(.estimated)")}
    assert {"ja", "nein"} <= cells
    assert not {"yes", "no", "True", "False", "true", "false"} & cells
    assert any(re.fullmatch(r"\d+,\d+", cell) for cell in cells)
    page.goto(f"/campaigns/german/row?id={row}")
    text = page.inner_text("main")
    assert ("ja" if smokes else "nein") in text.split()
    assert re.search(r"\d,\d+ mg", text)


def test_a_server_that_is_started_anew_loses_nothing(chromium, tmp_path):
    """Killed under an open form and started again, with another secret: what was typed is saved."""
    url, port = f"sqlite:///{tmp_path}/study.db", str(free_port())
    queue = study(url)
    with serving(url, "--port", port) as server:
        seen = Visit(chromium, server.url, "Ann")
        page = seen.look(queue)
        first, second = page.query_selector_all("[data-line]")[:2]
        keys = [line.get_attribute("data-key") for line in (first, second)]
        fill(first, VALUES[cell_of(first)[1]])
    page.click(f"#line-{keys[0]} [data-save]")
    page.wait_for_selector("#offline >> text=The server cannot be reached")
    fill(second, VALUES[cell_of(second)[1]])
    with serving(url, "--port", port):
        for key in keys:
            page.click(f"#line-{key} [data-save]")
            page.wait_for_selector(f"#line-{key}.saved")
        with Campaign.open(url) as campaign:
            assert campaign.totals().bought == 2
    seen.context.close()


def test_an_ended_session_keeps_what_was_typed_until_the_next(chromium, tmp_path):
    """A token is revoked while its owner types: it is said, and after signing in anew the draft is there."""
    url, tokens = f"sqlite:///{tmp_path}/study.db", tmp_path / "tokens.json"
    queue = study(url)
    old = add_token(tokens, who="Bea", role="answer")
    with serving(url, "--tokens", str(tokens)) as server:
        seen = Visit(chromium, server.url)
        page = seen.page
        page.goto(queue)
        page.fill("#token", old)
        page.click("main form button")
        page.wait_for_selector("[data-line]")
        line = page.query_selector("[data-line]")
        key = line.get_attribute("data-key")
        fill(line, VALUES[cell_of(line)[1]])
        [known] = list_tokens(tokens)
        remove_token(tokens, known.id)
        new = add_token(tokens, who="Bea", role="answer")
        page.wait_for_timeout(1000 * LOOK_AGAIN + 100)  # until the server looks at the file again
        page.click(f"#line-{key} [data-save]")
        page.click("#offline >> text=Sign in again")
        page.fill("#token", new)
        page.click("main form button")
        page.wait_for_selector(f"#line-{key}.touched")
        assert "kept from before" in page.inner_text(f"#line-{key}")
        page.click(f"#line-{key} [data-save]")
        page.wait_for_selector(f"#line-{key}.saved")
        seen.context.close()


def test_the_bar_shows_what_the_server_says(visit, site):
    """How much is done and the time left come with the news, and are shown in place."""
    study(site[1], "bar")
    seen = visit("Ann")
    news = '{"number": 1, "summaries": {}, "progress": {"overview": [0.25, 30.2]}}'
    body = f"retry: 100\n\nevent: notification\ndata: {news}\n\n"
    seen.page.route("**/events", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page = seen.look("/campaigns/bar/manage")
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
        '<progress data-what="overview" max="1" aria-label="x"></progress><p data-left="overview"></p>')"""
    )
    page.wait_for_function("() => document.querySelector('[data-what]').value === 0.25")
    assert page.inner_text("[data-left]") == "About 30 s left"
