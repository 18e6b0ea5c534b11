"""The queue without a browser: a line for each value, grouped by row, filtered and searched."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from markupsafe import Markup

from cellworth.campaign import Campaign
from cellworth.table import Column
from cellworth.web.pages.answer_queue import A_PAGE, DrawnLines, key_of, line_of, rows_like
from tests.campaign.campaigns import VALUES
from tests.web.pages.visitor import STUDY, lines


def test_the_queue_is_grouped_and_filtered(fresh):
    page = fresh.look(STUDY + "/queue")
    with Campaign.open(fresh.url) as campaign:
        purchases = campaign.open_purchases()
        campaign.take(2, who="Bob")
        campaign.take(3, who="Cy")
    shown = lines(page)
    assert {(line.row, line.column) for line in shown} == {(each.row, each.column) for each in purchases}
    rows = [line.row for line in shown]
    assert len(set(rows)) == 1 + sum(a != b for a, b in pairwise(rows))  # each row once
    assert "30 values asked for" in page.text
    assert len(lines(fresh.look(STUDY + "/queue?who=mine"))) == 2
    assert len(lines(fresh.look(STUDY + "/queue?who=held:Cy"))) == 3
    assert len(lines(fresh.look(STUDY + "/queue?who=free"))) == 25
    assert len(lines(fresh.look(STUDY + "/queue?who=asked:Ann"))) == 30
    column = purchases[0].column
    wanted = sum(each.column == column for each in purchases)
    assert len(lines(fresh.look(STUDY + f"/queue?column={column}"))) == wanted
    same_row = sum(purchases[0].row in each.row for each in purchases)
    assert len(lines(fresh.look(STUDY + f"/queue?row={purchases[0].row.upper()}"))) == same_row
    assert "No value fits the filter" in fresh.look(STUDY + "/queue?row=nobody").text


def test_a_long_queue_comes_in_pages(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.ask(count=40, who="Ann")
        out = {key_of(each.row, each.column) for each in campaign.open_purchases()}
    first = fresh.look(STUDY + "/queue")
    assert len(lines(first)) == A_PAGE
    [after] = {link for link in first.links if link and "after=" in link}
    second = fresh.look(after)
    assert {line.key for line in lines(first)} | {line.key for line in lines(second)} == out


def test_the_field_knows_its_column(fresh):
    found = {line.column: line.control for line in lines(fresh.look(STUDY + "/queue"))}
    expected = {
        "dose": {"type": "text", "inputmode": "decimal"},
        "age": {"type": "text", "inputmode": "numeric"},
        "visit": {"type": "date"},
        "stage": {"type": "radio", "values": ["I", "II", "III"]},
        "hue": {"type": "radio", "values": ["blue", "green", "red"]},
        "smokes": {"type": "radio", "values": ["true", "false"]},
    }
    assert len(found) > 3
    for column in found:
        assert expected[column].items() <= found[column].items()


def test_a_search_is_completed(fresh):
    assert fresh.client.get(STUDY + "/queue/rows?row=p1").json()[:2] == ["p1", "p10"]
    assert rows_like(["b10", "a1", "x"], "1") == ["b10", "a1"]


def test_news_name_what_happened_to_each_value(fresh):
    with Campaign.open(fresh.url) as campaign:
        first, second, third, fourth = campaign.open_purchases()[:4]
        campaign.tell([(first.row, first.column, VALUES[first.column])], who="Cy")
        campaign.refuse([(second.row, second.column)], "lost", who="Cy")
        campaign.take([(third.row, third.column)], who="Cy")
        campaign.cancel([(fourth.row, fourth.column)])
        campaign.ask(count=2)
        number = campaign.number
    news = fresh.client.get(STUDY + "/queue/news?after=1").json()
    cells = [news["cells"][key_of(each.row, each.column)] for each in (first, second, third, fourth)]
    assert [(each["what"], each["who"]) for each in cells] == [
        ("told", "Cy"),
        ("refused", "Cy"),
        ("taken", "Cy"),
        ("cancelled", "someone"),
    ]
    assert (news["asked"], news["number"], news["open"]) == (2, number, 29)
    assert fresh.client.get(STUDY + f"/queue/news?after={number}").json()["cells"] == {}


def test_the_list_to_print(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.ask(count=80, who="Ann")  # so many that each column has some
    page = fresh.look(STUDY + "/queue/print?column=age")
    with Campaign.open(fresh.url) as campaign:
        rows = [each.row for each in campaign.open_purchases() if each.column == "age"]
    assert rows
    assert all(row in page.text for row in rows)
    assert "dose" not in page.text


@pytest.mark.slow
def test_guesses_are_within_what_is_possible(fresh):
    found = fresh.client.get(STUDY + "/queue/guesses").json()
    with Campaign.open(fresh.url) as campaign:
        keys = {key_of(each.row, each.column): each.column for each in campaign.open_purchases()}
    assert set(found) == set(keys)
    for key, words in found.items():
        if keys[key] in ("dose", "age"):
            assert "-" not in words


def test_a_line_that_is_drawn_once_is_right_for_each_reader(fresh):
    """Lines are kept as HTML for all who look at them: whose a value is, and the language, differ."""
    with Campaign.open(fresh.url) as campaign:
        [mine] = campaign.take(1, who="Bob")
    key = key_of(mine.row, mine.column)

    def line(who, language="en"):
        headers = {"Accept": "text/html", "Accept-Language": language}
        fresh.client.cookies.set("cellworth_who", who)
        text = fresh.client.get(STUDY + "/queue", headers=headers).text
        return text.partition(f'id="line-{key}"')[2].partition('id="line-')[0]

    for _ in range(2):  # drawn, then as it was kept
        assert ">yours<" in line("Bob")
        assert ">with Bob<" in line("Cy")
        assert ">bei Bob<" in line("Cy", "de")
        assert "Give back" in line("Bob")
        assert "Give back" not in line("Cy")
    with Campaign.open(fresh.url) as campaign:
        campaign.give_back([(mine.row, mine.column)], who="Bob")
    assert ">yours<" not in line("Bob")
    assert "Take it" in line("Cy")


def test_kept_lines_are_limited():
    kept = DrawnLines(most=2)
    head = SimpleNamespace(path="/campaigns/a", currency=None)
    lines = [line_of(Column("dose", "number"), row) for row in "abc"]
    for each in lines:
        assert kept.keep(Markup(each.row), each, head, "manage") == each.row
    assert [kept.get(each, head, "manage") for each in lines] == [None, "b", "c"]
    assert kept.get(lines[1], head, "answer") is None  # another role may do other things
