"""Files of answers without a browser: down and up, whole or not at all."""

import csv
import io

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign import Campaign
from tests.web.pages.studies import begin, fill_in
from tests.web.pages.visitor import STUDY
from tests.web.pages.visitor import lines as shown_lines


def test_list_down_and_up(fresh):
    text = fresh.client.get(STUDY + "/queue.csv").content.decode("utf-8-sig")
    with Campaign.open(fresh.url) as campaign:
        asked = [(each.row, each.column) for each in campaign.open_purchases()]
    assert [(line["row"], line["column"]) for line in csv.DictReader(io.StringIO(text))] == asked
    form = fresh.look(STUDY + "/queue").form("/upload")

    bad = {"answers": ("my answers.csv", fill_in(text, wrong=2).encode(), "text/csv")}
    page = fresh.send(form, files=bad)
    assert "/upload/" in str(page.answer.url)  # an address that can be reloaded
    assert "2 wrong lines" in fresh.look(str(page.answer.url)).text
    assert "my answers.csv has 2 wrong lines. Nothing was saved." in page.text
    assert "Line 2 value" in page.text
    assert "Line 3 value" in page.text
    assert not any(form.action.endswith("/save") for form in page.forms)

    good = {"answers": ("my answers.csv", fill_in(text).encode(), "text/csv")}
    checked = fresh.send(form, files=good)
    assert "30 new answers" in checked.text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 1  # nothing is saved before it is confirmed
    save = checked.form("/upload/save")
    assert "Saved 30 answers" in fresh.send(save).text
    assert "Saved 30 answers" in fresh.send(save).text  # sent twice, saved once
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 2
        assert campaign.open_purchases() == []
    again = fresh.send(form, files=good)
    assert "0 new answers, 30 already known" in again.text


def test_a_file_that_contradicts_or_was_not_asked_for(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.ask(count=80, who="Ann")  # so many that each column has some
        asked = {(each.row, each.column) for each in campaign.open_purchases()}
        row = next(r for r in campaign.table.row_ids if (r, "age") in asked)
        campaign.tell([(row, "age", 40)])
        table = campaign.table
        j = table.column_index("age")
        known = next(i for i, r in enumerate(table.row_ids) if not table.holes[i, j] and r != row)
    lines = f"row,column,value\n{row},age,41\n{table.row_ids[known]},age,40\n"
    form = fresh.look(STUDY + "/queue").form("/upload")
    page = fresh.send(form, files={"answers": ("a.csv", lines.encode(), "text/csv")})
    assert "Line 2" in page.text
    assert "Line 3" in page.text
    page = fresh.send(form, files={"answers": ("a.exe", b"MZ", "text/csv")})
    assert "a.exe: Expected a file that ends in .csv" in page.text
    page = fresh.send(form, files={"answers": ("../../etc/a.csv", b"x,y\n1,2\n", "text/csv")})
    assert "a.csv, line 1: expected a header" in page.text
    assert "cellworth-" not in page.text  # no path of the server


def test_names_with_line_ends_come_back(fresh):
    # Browsers send each line end as two characters, whatever it was in the page.
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0], [5.0, 1.0]] * 5)
    ids = [f"a\nb {i}" for i in range(20)]
    table = Table.from_arrays(X, columns=["x", "y\nz"], row_ids=ids)
    with begin(fresh.url, "lines", table=table, prices=Prices.same(1.0)) as campaign:
        campaign.ask(count=4)
    path = "/campaigns/lines"
    line = shown_lines(fresh.look(path + "/queue"))[0]
    sent = {name: text.replace("\n", "\r\n") for name, text in line.fields.items()}
    fresh.client.post(path + "/queue/tell", data={**sent, f"value.{line.key}": "1"})
    with Campaign.open(fresh.url, "lines") as campaign:
        assert campaign.history()[-1]["kind"] == "told"
    text = fresh.client.get(path + "/queue.csv").content.decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows([("row", "column", "value"), *((line["row"], line["column"], 7) for line in lines)])
    upload = fresh.look(path + "/queue").form("/upload")
    checked = fresh.send(upload, files={"answers": ("a.csv", out.getvalue().encode(), "text/csv")})
    assert "Saved 3 answers" in fresh.send(checked.form("/upload/save")).text


@pytest.mark.parametrize("key", ["x", "../study.db", "0" * 43, "\0"])
def test_a_file_that_is_not_there_is_not_saved(fresh, key):
    text = fresh.client.get(STUDY + "/queue.csv").content.decode("utf-8-sig")
    form = fresh.look(STUDY + "/queue").form("/upload")
    good = {"answers": ("answers.csv", fill_in(text).encode(), "text/csv")}
    save = fresh.send(form, files=good).form("/upload/save")
    assert "no longer on the server" in fresh.send(save, key=key).text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.number == 1


def test_a_large_file_that_was_checked_can_be_saved(fresh):
    # Larger than a field of a form may be, in which the answers once came back.
    ids = [f"{i:0>900}" for i in range(1500)]
    values = np.where(np.arange(3000) % 4 < 2, np.arange(3000) % 7, np.nan).reshape(2, -1).T
    table = Table.from_arrays(values, row_ids=ids)
    with begin(fresh.url, "large", table=table, prices=Prices.same(1.0), budget=None) as campaign:
        campaign.ask(count=1500)
    path = "/campaigns/large"
    text = fresh.client.get(path + "/queue.csv").content.decode("utf-8-sig")
    lines = "row,column,value\n" + "".join(
        f"{line['row']},{line['column']},1\n" for line in csv.DictReader(io.StringIO(text))
    )
    assert len(lines) > 1.1 * 2**20
    form = fresh.look(path + "/queue").form("/upload")
    checked = fresh.send(form, files={"answers": ("a.csv", lines.encode(), "text/csv")})
    assert "Saved 1,500 answers" in fresh.send(checked.form("/upload/save")).text
