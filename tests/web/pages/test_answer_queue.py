"""The queue without a browser: filter, take, answer, refuse, and what is said of what is wrong."""

from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.web.pages.visitor import STUDY


def test_the_queue_is_filtered(fresh):
    page = fresh.look(STUDY + "/queue")
    with Campaign.open(fresh.url) as campaign:
        purchases = campaign.open_purchases()
        campaign.take(2, who="Bob")
        campaign.take(3, who="Cy")
    tells = [form for form in page.forms if form.action.endswith("/tell")]
    assert len(tells) == 20
    assert [(form.fields["row"], form.fields["column"]) for form in tells] == [
        (each.row, each.column) for each in purchases[:20]
    ]
    second = fresh.look(STUDY + "/queue?page=2")
    assert sum(form.action.endswith("/tell") for form in second.forms) == 10
    assert "2 of 30 cells" in fresh.look(STUDY + "/queue?who=mine").text
    assert "3 of 30 cells" in fresh.look(STUDY + "/queue?who=held:Cy").text
    assert "25 of 30 cells" in fresh.look(STUDY + "/queue?who=free").text
    assert "30 cells are asked for" in fresh.look(STUDY + "/queue?who=asked:Ann").text
    column = purchases[0].column
    wanted = sum(each.column == column for each in purchases)
    assert f"{wanted} of 30 cells" in fresh.look(STUDY + f"/queue?column={column}").text
    same_row = sum(purchases[0].row in each.row for each in purchases)
    assert f"{same_row} of 30" in fresh.look(STUDY + f"/queue?row={purchases[0].row.upper()}").text


def test_the_field_knows_its_column(fresh):
    found = {}
    for page in (1, 2):
        for form in fresh.look(STUDY + f"/queue?page={page}").forms:
            if form.action.endswith("/tell"):
                found[form.fields["column"]] = form.controls["value"]
    expected = {
        "dose": {"type": "number", "step": "any", "min": "0"},
        "age": {"type": "number", "step": "1", "min": "0", "max": "120"},
        "visit": {"type": "date"},
        "stage": {"options": ["", "I", "II", "III"]},
        "hue": {"options": ["", "blue", "green", "red"]},
        "smokes": {"options": ["", "true", "false"]},
    }
    assert len(found) > 3
    for column in found:
        assert expected[column].items() <= found[column].items()
        assert "required" in found[column]


def test_answer_and_go_on_to_the_next(fresh):
    page = fresh.look(STUDY + "/queue")
    first, second = [form for form in page.forms if form.action.endswith("/tell")][:2]
    after = fresh.send(first, value=VALUES[first.fields["column"]])
    assert f"Saved: {first.fields['column']} of {first.fields['row']}." in after.text
    assert after.focus == second.controls["value"]["id"]
    with Campaign.open(fresh.url) as campaign:
        told = campaign.history()[-1]
    assert told["who"] == "Bob"
    assert told["cells"][0]["row"] == first.fields["row"]


def test_a_wrong_value_is_said_beside_its_field(fresh):
    page = fresh.look(STUDY + "/queue?column=age")
    form = page.form("/tell")
    again = fresh.send(form, 422, value="130")
    kept = again.form("/tell", row=form.fields["row"])
    assert kept.fields["value"] == "130"
    assert kept.controls["value"]["aria-invalid"] == "true"
    assert "expected a whole number from 0 to 120, got '130'" in again.text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 1


def test_refuse_with_a_reason(fresh):
    form = fresh.look(STUDY + "/queue").form("/refuse")
    assert "reason" in fresh.send(form, 422, reason="  ").text
    assert "cannot be had" in fresh.send(form, reason="lost").text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.history()[-1]["reason"] == "lost"


def test_take_give_back_and_withdraw(fresh):
    page = fresh.look(STUDY + "/queue")
    taken = fresh.send(page.form("/take", count="5"), count="2")
    assert "2 cells are reserved for you" in taken.text
    assert "2 of 30 cells" in taken.text
    assert taken.focus is not None
    assert "Given back" in fresh.send(taken.form("/give-back")).text
    assert "Withdrawn" in fresh.send(fresh.look(STUDY + "/queue").form("/cancel")).text
    with Campaign.open(fresh.url) as campaign:
        assert [event["kind"] for event in campaign.history()][1:] == ["taken", "given back", "cancelled"]


def test_a_conflict_names_who_holds_the_cell(fresh):
    form = next(
        f for f in fresh.look(STUDY + "/queue").forms if f.action.endswith("/take") and "row" in f.fields
    )
    with Campaign.open(fresh.url) as campaign:
        campaign.take([(form.fields["row"], form.fields["column"])], who="Cy")
    page = fresh.send(form, 409)
    assert "is with 'Cy' until" in page.text
    assert "All campaigns" in page.text


def test_another_value_is_a_conflict_and_nothing_is_lost(fresh):
    form = fresh.look(STUDY + "/queue?column=age").form("/tell")
    with Campaign.open(fresh.url) as campaign:
        campaign.tell([(form.fields["row"], "age", 40)], who="Cy")
    assert "but 40 is known" in fresh.send(form, 409, value="41").text
    assert "already has this value" in fresh.send(form, value="40").text


def test_without_a_name_nothing_is_taken(fresh):
    fresh.client.cookies.delete("cellworth_who")
    page = fresh.look(STUDY + "/queue")
    named = fresh.send(page.form("/name"), who=" Dee  Doe ")
    assert "Dee Doe" in named.text
    assert not any(form.action == "/name" for form in named.forms)


def test_an_absurd_value_is_saved_if_it_is_sent_again(fresh):
    form = fresh.look(STUDY + "/queue?column=visit").form("/tell")
    again = fresh.send(form, 422, value="1923-01-05")
    assert "got '1923-01-05', but the" in again.text
    kept = again.form("/tell", row=form.fields["row"])
    assert "doubted" not in form.fields
    assert kept.fields["doubted"] == kept.fields["value"] == "1923-01-05"
    other = fresh.send(kept, 422, value="1924-01-05")  # another value is questioned anew
    assert "got '1924-01-05'" in other.text
    fresh.send(other.form("/tell", row=form.fields["row"]))
    with Campaign.open(fresh.url) as campaign:
        [cell] = [each for each in campaign.row(form.fields["row"]).cells if each.column == "visit"]
        assert cell.value == "1924-01-05"
