"""A campaign begins from the files that people choose."""

from tests.web.pages.studies import CLINIC, names_in


def test_begin_a_campaign(fresh):
    form = fresh.look("/new").form("/new")
    table = ("clinic.csv", CLINIC.read_bytes(), "text/csv")
    typed = {"name": "a/b %", "target": "outcome", "row_id": "id", "missing": "?", "budget": "500"}
    none = ("", b"", "application/octet-stream")  # what a browser sends where no file was chosen
    wrong = fresh.send(form, 422, files={"table": table, "prices": none}, **{**typed, "target": "outcoem"})
    assert "outcome" in wrong.text
    assert wrong.form("/new").fields["row_id"] == "id"  # what was typed stays
    prices = ("prices.csv", b"column,price\npressure,1\n(other columns),2\n", "text/csv")
    page = fresh.send(form, files={"table": table, "prices": prices}, **typed)
    assert "Campaign a/b %" in page.text
    assert "a/b %" in names_in(fresh.url)
    assert "a/b %" in fresh.send(form, 422, files={"table": table}, **typed).text  # the name is taken
    assert "a/b %" in fresh.look("/").text
