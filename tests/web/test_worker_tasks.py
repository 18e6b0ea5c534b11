"""What the worker does for requests: asks that say when to stop, and files in each format."""

import csv
import io

import numpy as np
import pytest

from cellworth import Prices, StopRule, Table
from cellworth.table.files import FileBytes
from cellworth.web.worker_tasks import MEDIA, ask_and_tell, make_file, make_report
from tests.campaign.campaigns import answers_to, begin, gaussian_table


def test_the_reason_comes_back_with_the_batch():
    campaign = begin(gaussian_table()[0], prices=Prices.same(2.0), strategy="random")
    assert ask_and_tell(campaign, None, 2).stop is None  # there is no forecast
    stopped = ask_and_tell(campaign, None, 2, until=StopRule(least_gain=1.0))
    assert not stopped.batch
    assert stopped.stop.startswith("Stop: ")
    batch, stop = ask_and_tell(campaign, None, 2, until=StopRule(least_gain=1e-9))
    assert (len(batch), stop) == (2, None)


@pytest.fixture(scope="module")
def campaign():
    made = begin(strategy="random")
    batch = made.ask(count=4, who="=Ann")
    made.tell(answers_to(batch[:2]), who="Bea")
    return made


def read(content, ending, like):
    return Table.read(FileBytes(f"t.{ending}", content), **like.keywords())


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_the_table_comes_back(campaign, ending):
    table = campaign.table
    found = read(make_file(campaign, "table", ending), ending, table)
    assert np.array_equal(found.values, table.values, equal_nan=True)
    assert found.row_ids == table.row_ids
    filled = read(make_file(campaign, "filled", ending), ending, table)
    assert not filled.holes.any()
    known = ~table.holes
    assert np.array_equal(filled.values[known], table.values[known])


def test_the_ledger_has_every_cell_of_every_event(campaign):
    lines = list(csv.reader(io.StringIO(make_file(campaign, "ledger", "csv").decode("utf-8-sig"))))
    assert [line[3] for line in lines[1:]] == ["asked for"] * 4 + ["bought"] * 2
    assert lines[1][2] == "'=Ann"  # disarmed for spreadsheets that read text
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = parquet.read_table(io.BytesIO(make_file(campaign, "ledger", "parquet"))).to_pylist()
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(io.BytesIO(make_file(campaign, "ledger", "xlsx"))).active
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == lines[0] == list(frame[0])
    assert rows[1:] == [list(each.values()) for each in frame]
    assert frame[0]["who"] == "=Ann"
    assert [row[4:6] for row in rows[1:]] == [line[4:6] for line in lines[1:]]


def test_the_report_is_one_page(campaign):
    page = make_report(campaign)
    assert page.startswith(b"<!doctype html>"[:5]) or b"<html" in page[:300]
    assert set(MEDIA) == {"csv", "xlsx", "parquet", "html"}
