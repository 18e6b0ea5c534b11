"""A campaign begins from the files that people choose, once they have seen how they are read."""

import pytest

from cellworth.campaign import Campaign
from tests.web.pages.studies import CLINIC, names_in

TABLE = ("clinic.csv", CLINIC.read_bytes(), "text/csv")
NONE = ("", b"", "application/octet-stream")  # what a browser sends where no file was chosen
TYPED = {"name": "a/b %", "target": "outcome", "row_id": "id", "missing": "?", "budget": "500"}


def settings(fresh, prices=NONE, table=TABLE):
    return fresh.send(fresh.look("/new").form("/new"), files={"table": table, "prices": prices})


def begin_form(page):
    return next(form for form in page.forms if form.action.startswith("/new/"))


def test_begin_a_campaign(fresh):
    page = settings(fresh)
    form = begin_form(page)
    assert form.fields["name"] == "clinic"
    assert "new-error" in page.ids  # what it cannot read, before anything is fixed
    assert "200 rows, 8 columns" in fresh.send(form, act="look", **TYPED).text
    wrong = fresh.send(form, act="begin", **{**TYPED, "target": "outcoem"})
    assert "outcome" in wrong.text
    assert begin_form(wrong).fields["row_id"] == "id"  # what was typed stays, and so does the file
    assert "outcome" in fresh.look(str(wrong.answer.url)).text
    done = fresh.send(begin_form(wrong), act="begin", target="outcome")
    assert "a/b %" in done.text
    assert "a/b %" in names_in(fresh.url)
    again = fresh.send(begin_form(settings(fresh)), act="begin", **TYPED)
    assert "a/b %" in again.text  # the name is taken
    assert "Python" not in again.text


def test_kinds_units_bounds_and_prices_are_seen_and_changed_first(fresh):
    looked = fresh.send(begin_form(settings(fresh)), act="look", **TYPED)
    assert len(names_in(fresh.url)) == 1  # nothing is fixed yet
    form = begin_form(looked)
    columns = {value: name.partition(".")[2] for name, value in form.fields.items() if "column." in name}
    j = columns["pressure"]
    said = {f"unit.{j}": "mmHg", f"low.{j}": "50", f"high.{j}": "260", f"price.{j}": "3,50"}
    fresh.send(form, act="begin", currency="eur", **said)
    with Campaign.open(fresh.url, "a/b %") as campaign:
        column = campaign.table.columns[campaign.table.column_index("pressure")]
        assert (column.unit, column.bounds, campaign.table.row_id) == ("mmHg", (50, 260), "id")
        assert campaign.prices.currency == "EUR"
        assert campaign.prices.on(campaign.table).alone[0].tolist()[int(j)] == 3.5
        assert campaign.budget == 500


def test_a_file_with_semicolons_and_commas(fresh):
    lines = b"id;x;y\n1;1,5;a\n2;;b\n3;2,5;a\n4;3,5;b\n"
    page = settings(fresh, table=("t.csv", lines, "text/csv"))
    again = fresh.send(begin_form(page), act="look", delimiter=";", decimal=",", row_id="id")
    assert "1.5" in again.text
    assert "4 rows, 2 columns" in again.text


def test_a_comma_in_a_name_and_a_column_that_nobody_measured_yet(fresh):
    """Where the table cannot be read as it is, its columns are there to say what it lacks."""
    lines = "".join(f"P{k};{k},5;;{'ill' if k % 3 else 'well'}\n" for k in range(30))
    table = ("t.csv", f"id;dose (oral, mg);troponin;y\n{lines}".encode(), "text/csv")
    page = settings(fresh, table=table)
    form = begin_form(page)
    assert (form.fields["delimiter"], form.fields["decimal"], form.fields["row_id"]) == (";", ",", "id")
    j = next(name for name, value in form.fields.items() if value == "troponin").partition(".")[2]
    assert form.fields[f"kind.{j}"] == ""  # as the table has it
    said = {f"kind.{j}": "number", f"low.{j}": "0", f"high.{j}": "50", "target": "y", "name": "new test"}
    assert "30 rows, 2 columns" in fresh.send(form, act="look", **said).text
    fresh.send(form, act="begin", **said)
    assert "new test" in names_in(fresh.url)


def test_what_is_typed_wrongly_stays_as_typed_is_marked_and_said_once(fresh):
    form = begin_form(fresh.send(begin_form(settings(fresh)), act="look", **TYPED))
    fresh.client.cookies.set("cellworth_language", "de")
    wrong = fresh.send(form, act="begin", **{"price.0": "1.234,56", "price.1": "dear", "low.0": "two"})
    controls = begin_form(wrong).controls
    assert controls["price.0"]["value"] == "1.234,56"
    marked = [name for name, control in controls.items() if control.get("aria-invalid") == "true"]
    assert sorted(marked) == ["low.0", "price.1"]
    assert wrong.text.count("nicht 'two'") == 1


def test_prices_from_a_file(fresh):
    prices = ("prices.csv", b"column,price\npressure,1\n(other columns),2\n", "text/csv")
    page = settings(fresh, prices)
    form = begin_form(page)
    assert not [name for name in form.controls if name.startswith("price.")]
    fresh.send(form, act="begin", **TYPED)
    with Campaign.open(fresh.url, "a/b %") as campaign:
        assert set(campaign.prices.on(campaign.table).alone[0].tolist()) == {1.0, 2.0}


def test_descriptions_and_a_price_of_labels_are_typed_and_shown(fresh):
    """What the manager writes about a column reaches those who collect its values, through every door."""
    rows = [f"{i},{i % 7}.5,{'' if i % 3 else i},{'' if i % 4 == 0 else 'ab'[i % 2]}" for i in range(24)]
    table = ("t.csv", "\n".join(["id,x,z,y", *rows]).encode(), "text/csv")
    looked = fresh.send(
        begin_form(settings(fresh, table=table)), act="look", name="c", target="y", row_id="id"
    )
    form = begin_form(looked)
    assert form.fields["price.label"] == ""  # labels are not for sale unless they have a price
    said = {"description.1": "Fasting <1 h>", "description.label": "By two readers", "price.label": "2,50"}
    again = begin_form(fresh.send(form, act="look", **said))
    assert [again.fields[name] for name in said] == ["Fasting <1 h>", "By two readers", "2.5"]
    wrong = fresh.send(again, act="begin", **{"price.label": "dear"})
    assert "Price of y" in wrong.text
    fresh.send(begin_form(wrong), act="begin", **{"price.label": "2.5"}, budget="500", strategy="random")
    with Campaign.open(fresh.url, "c") as campaign:
        assert campaign.counts_labels
        assert campaign.prices.on(campaign.table).alone[0].tolist() == [1.0, 1.0, 2.5]
        campaign.ask(count=20, who="Ann")
        assert {each.column for each in campaign.open_purchases()} == {"z", "y"}
    for path in ("queue", "queue/print", "rows/1", "next"):
        assert "Fasting <1 h>" in fresh.look(f"/campaigns/c/{path}").text, path
    assert "By two readers" in fresh.look("/campaigns/c/queue").text
    found = fresh.client.get("/api/v1/campaigns/c/columns").json()["items"]
    assert [each["description"] for each in found] == [None, "Fasting <1 h>", "By two readers"]


def test_a_german_table_and_price_list_are_read_alike_and_rows_are_named(fresh):
    """The decimal mark holds for both files, and the column of ids needs no typing."""
    lines = "".join(
        f"P{k};{k},5;{'ja' if k % 2 else ''};{'krank' if k % 3 else 'gesund'}\n" for k in range(30)
    )
    table = ("werte.csv", f"Patient;Dosis;Raucher;Befund\n{lines}".encode(), "text/csv")
    prices = ("preise.csv", b"column;price\nDosis;1,25\n(other columns);0,50\n", "text/csv")
    page = settings(fresh, prices, table)
    form = begin_form(page)
    assert form.fields["row_id"] == "Patient"
    fresh.send(form, target="Befund", delimiter=";", decimal=",", act="begin")
    with Campaign.open(fresh.url, "werte") as campaign:
        assert campaign.table.row_ids[0] == "P0"
        assert sorted(set(campaign.prices.on(campaign.table).alone[0].tolist())) == [0.5, 1.25]
    manage = fresh.look("/campaigns/werte/manage")
    new = {"prices": ("p.csv", b"column;price\n(other columns);2,75\n", "text/csv")}
    assert "The prices are changed" in fresh.send(manage.form("/prices"), files=new).text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_spreadsheets_text_file_is_read_without_typing_how(fresh, encoding):
    lines = "".join(f"P{k};{k},5;{'ja' if k % 2 else ''};{'Ü' if k % 3 else 'ß'}\n" for k in range(30))
    table = ("werte.csv", f"Patient;Dosis µg;Raucher;Befund\n{lines}".encode(encoding), "text/csv")
    page = settings(fresh, table=table)
    assert "30 rows, 3 columns" in page.text
    assert begin_form(page).fields["row_id"] == "Patient"


def test_what_the_reader_doubts_is_said_before_anything_is_fixed(fresh):
    """Where nobody sees a terminal, a -999 would be taken for a dose, and two spellings for two answers."""
    rows = "".join(
        f"P{k},{-999 if k == 3 else k},{'Ja' if k == 5 else 'ja' if k % 2 else '?'},{k % 2}\n"
        for k in range(30)
    )
    page = settings(fresh, table=("t.csv", f"id,dose,smoker,y\n{rows}".encode(), "text/csv"))
    assert "new-doubts" in page.ids
    for said in (
        "-999, in row 'P3' (line 5), is far outside the other numbers",
        "'?' is read as a category",
        "'Ja', 'ja' differ only in capitals",
    ):
        assert said in page.text
    again = fresh.send(begin_form(page), act="look", missing="-999 ?", **{"categories.1": "ja, Ja"})
    assert "new-doubts" not in again.ids


def test_a_column_with_one_text_asks_for_the_others_before_they_are_refused(fresh):
    """A mark of missing values is no category any more, although the field had listed it."""
    rows = "".join(f"P{k},{k},{'?' if k % 2 else 'low'},{'ill' if k % 3 else 'well'}\n" for k in range(30))
    form = begin_form(settings(fresh, table=("t.csv", f"id,dose,rare,finding\n{rows}".encode(), "text/csv")))
    assert form.fields["categories.1"] == "?, low"
    said = {"missing": "?, n.k.", "kind.1": "category"}  # many put commas between marks
    page = fresh.send(form, act="look", **said)
    hint = "No other text is accepted as an answer yet."
    assert page.text.count(hint) == 1
    assert begin_form(page).fields["categories.1"] == "low"
    said["categories.1"] = "low, high"
    page = fresh.send(begin_form(page), act="look", **said)
    assert hint not in page.text
    assert begin_form(page).fields["categories.1"] == "low, high"


def test_fees_of_a_price_list_are_seen_before_they_are_fixed(fresh):
    """What a group and a visit add is money, too."""
    listed = (
        b"column,price,group,price_after_first,lasting\ncholesterol,7.25 EUR,blood,5.00 EUR,\n"
        b"glucose,7.25 EUR,blood,5.00 EUR,\npressure,3 EUR,cuff,1.50 EUR,yes\n"
        b"(other columns),2 EUR,,,\n(visit),4.75 EUR,,,\n"
    )
    page = fresh.send(begin_form(settings(fresh, ("p.csv", listed, "text/csv"))), act="look", **TYPED)
    assert page.text.count("5.00 EUR after the first of blood in a row") == 2
    assert "1.50 EUR once a value of cuff is known in the row" in page.text
    assert "Prices are in EUR. Each visit to a row costs 4.75 EUR more" in page.text


def test_no_digit_of_a_price_or_bound_is_lost_by_looking_again(fresh):
    form = begin_form(fresh.send(begin_form(settings(fresh)), act="look", **TYPED))
    columns = {value: name.partition(".")[2] for name, value in form.fields.items() if "column." in name}
    j = columns["pressure"]
    said = {f"price.{j}": "12345.67", f"high.{j}": "1234567.25", "price.label": "12345678"}
    again = begin_form(fresh.send(form, act="look", **said))
    assert [again.fields[name] for name in said] == list(said.values())
