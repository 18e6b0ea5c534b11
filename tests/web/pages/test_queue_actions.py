"""What people do in the queue without a script, and in place: save, refuse, undo, take, withdraw."""

import pytest

from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.html import Page
from tests.web.pages.visitor import STUDY, lines

IN_PLACE = {"HX-Request": "true", "Accept": "text/html"}


def first_line(fresh, column=None):
    return lines(fresh.look(STUDY + "/queue" + (f"?column={column}" if column else "")))[0]


def sent(line, **fields):
    """Return what the form of a line sends, with fields of the line by their short names."""
    return {**line.fields, **{f"{name}.{line.key}": str(value) for name, value in fields.items()}}


def post(fresh, line, action="tell", **fields):
    """Send a line as a browser without a script does, and return the page that comes."""
    answer = fresh.client.post(
        f"{STUDY}/queue/{action}", data=sent(line, **fields), headers={"Accept": "text/html"}
    )
    assert answer.status_code == 200, answer.text
    page = Page(answer.text)
    page.answer = answer
    return page


def in_place(fresh, line, action="tell", status=200, **fields):
    """Send a line as a script does, and return the fragment that comes."""
    answer = fresh.client.post(f"{STUDY}/queue/{action}", data=sent(line, **fields), headers=IN_PLACE)
    assert answer.status_code == status, answer.text
    assert "<html" not in answer.text
    return answer.text


def ask_more(fresh):
    """Ask for so many that each column has some."""
    with Campaign.open(fresh.url) as campaign:
        campaign.ask(count=80, who="Ann")


def history(fresh):
    with Campaign.open(fresh.url) as campaign:
        return campaign.history()


def test_answer_and_go_on_to_the_next(fresh):
    first, second = lines(fresh.look(STUDY + "/queue"))[:2]
    after = post(fresh, first, value=VALUES[first.column])
    assert f"Saved: {first.column}, {first.row}." in after.text
    assert after.focus.startswith(f"value-{second.key}")
    told = history(fresh)[-1]
    assert (told["who"], told["cells"][0]["row"]) == ("Bob", first.row)


def test_the_values_of_a_row_are_saved_together(fresh):
    shown = lines(fresh.look(STUDY + "/queue"))
    row = next(line.row for line in shown if sum(each.row == line.row for each in shown) > 1)
    some = [line for line in shown if line.row == row]
    fields = {**some[0].form.fields, **{f"value.{each.key}": str(VALUES[each.column]) for each in some}}
    answer = fresh.client.post(f"{STUDY}/queue/tell", data=fields, headers={"Accept": "text/html"})
    assert f"Saved {len(some)} values." in Page(answer.text).text
    assert [len(event["cells"]) for event in history(fresh)[1:]] == [len(some)]


def test_what_is_right_is_saved_and_what_is_wrong_is_said(fresh):
    ask_more(fresh)
    shown = lines(fresh.look(STUDY + "/queue"))
    ages = [line.row for line in shown if line.column == "age"]
    row = next(r for r in ages if sum(line.row == r for line in shown) > 1)
    mates = [line for line in shown if line.row == row]
    fields = {**mates[0].form.fields}
    for line in mates:
        fields[f"value.{line.key}"] = "old" if line.column == "age" else str(VALUES[line.column])
    answer = fresh.client.post(f"{STUDY}/queue/tell", data=fields, headers=IN_PLACE)
    assert answer.status_code == 422
    assert "expected a whole number from 0 to 120" in answer.text
    assert answer.text.count('class="line saved') == len(mates) - 1


def test_a_wrong_value_is_said_beside_its_field_at_an_address_that_reloads(fresh):
    ask_more(fresh)
    line = first_line(fresh, "age")
    again = post(fresh, line, value="130")
    [kept] = [each for each in lines(again) if each.key == line.key]
    assert kept.form.fields[f"value.{line.key}"] == "130"
    assert kept.control["aria-invalid"] == "true"
    assert "expected a whole number from 0 to 120, got '130'" in again.text
    assert str(again.answer.url).partition("?")[0].endswith("/queue")
    assert "got '130'" in fresh.look(str(again.answer.url)).text  # a reload is a look
    assert {event["kind"] for event in history(fresh)} == {"asked"}


def test_a_decimal_comma_is_taken(fresh):
    ask_more(fresh)
    post(fresh, first_line(fresh, "dose"), value="2,25")
    assert history(fresh)[-1]["cells"][0]["value"] == 2.25
    again = post(fresh, first_line(fresh, "dose"), value="1,250")
    assert "may be read in two ways" in again.text
    assert "got '-2,25'" in post(fresh, first_line(fresh, "age"), value="-2,25").text  # as it was typed


def test_not_available_needs_a_reason(fresh):
    line = first_line(fresh)
    assert "Say why it is not available" in in_place(fresh, line, "refuse", 422)
    assert "is not available" in post(fresh, line, "refuse", comment="lost").text
    assert history(fresh)[-1]["reason"] == "lost"


def test_comment_and_doubt_stand_in_the_history(fresh):
    ask_more(fresh)
    line = first_line(fresh, "age")
    in_place(fresh, line, value=41, comment="from a letter", unsure="unsure")
    assert history(fresh)[-1]["reason"] == "unsure: from a letter"
    assert "unsure: from a letter" in fresh.look(STUDY + "/ledger").text


def test_saved_in_place_then_undone(fresh):
    ask_more(fresh)
    line = first_line(fresh, "age")
    done = in_place(fresh, line, value=41)
    assert 'class="line saved' in done
    assert "data-undo" in done
    again = in_place(fresh, line, "undo", value=41)
    assert f'name="correct.{line.key}"' in again
    in_place(fresh, line, value=42, correct=1)
    assert [event["kind"] for event in history(fresh)][-2:] == ["told", "corrected"]
    refused = first_line(fresh, "dose")
    in_place(fresh, refused, "refuse", comment="lost")
    assert f'name="correct.{refused.key}"' not in in_place(fresh, refused, "undo")
    in_place(fresh, refused, value="2")
    assert history(fresh)[-1]["kind"] == "told"


def test_taking_obeys_the_filter(fresh):
    ask_more(fresh)
    page = fresh.look(STUDY + "/queue?column=age")
    form = next(form for form in page.forms if "count" in form.controls)
    taken = fresh.send(form, count="3")
    assert "3 values are reserved for you" in taken.text
    assert {cell["column"] for cell in history(fresh)[-1]["cells"]} == {"age"}
    assert len(lines(taken)) == 3


def test_take_give_back_and_withdraw(fresh):
    line = first_line(fresh)
    assert "yours" in in_place(fresh, line, "take")
    in_place(fresh, line, "give-back")
    assert "no longer asked for" in in_place(fresh, line, "cancel")
    assert [event["kind"] for event in history(fresh)][1:] == ["taken", "given back", "cancelled"]


def test_a_conflict_names_who_holds_the_value(fresh):
    line = first_line(fresh)
    with Campaign.open(fresh.url) as campaign:
        campaign.take([(line.row, line.column)], who="Cy")
    assert "is with &#39;Cy&#39; until" in in_place(fresh, line, "take", 422)


def test_another_value_is_a_conflict_and_nothing_is_lost(fresh):
    ask_more(fresh)
    line = first_line(fresh, "age")
    with Campaign.open(fresh.url) as campaign:
        campaign.tell([(line.row, "age", 40)], who="Cy")
    said = in_place(fresh, line, status=422, value=41)
    assert "but 40 is known" in said
    assert 'value="41"' in said  # what was typed stays
    page = post(fresh, line, value=41)
    assert f"Not saved: age of {line.row}, you typed “41”" in page.text
    assert any(link and "column=age" in link and "/row?" in link for link in page.links)
    post(fresh, line, value=40)  # the same value is no conflict


def test_an_absurd_value_is_saved_if_it_is_sent_again(fresh):
    line = first_line(fresh, "visit")
    asked = in_place(fresh, line, status=422, value="1923-01-05")
    assert "got 1923-01-05, but the" in asked
    assert f'name="doubted.{line.key}" value="1923-01-05"' in asked
    in_place(fresh, line, status=422, value="1924-01-05", doubted="1923-01-05")  # another is questioned anew
    in_place(fresh, line, value="1924-01-05", doubted="1924-01-05")
    with Campaign.open(fresh.url) as campaign:
        [cell] = [each for each in campaign.row(line.row).cells if each.column == "visit"]
        assert cell.value == "1924-01-05"


def test_without_a_name_nothing_is_taken(fresh):
    fresh.client.cookies.delete("cellworth_who")
    line = first_line(fresh)
    assert "you need a name" in post(fresh, line, "take").text
    named = fresh.send(fresh.look(STUDY + "/queue").form("/name"), who=" Dee  Doe ")
    assert "Dee Doe" in named.text
    assert not any(form.action == "/name" for form in named.forms)


@pytest.mark.parametrize("column", ["nobody", "", "<script>"])
def test_a_column_that_is_not_there(fresh, column):
    line = first_line(fresh)
    answer = fresh.client.post(
        f"{STUDY}/queue/tell", data={**line.fields, f"column.{line.key}": column}, headers=IN_PLACE
    )
    assert answer.status_code == 422
    assert len(history(fresh)) == 1
