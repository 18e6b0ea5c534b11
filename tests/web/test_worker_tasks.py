"""What the worker does for requests: asks that say when to stop, and files in each format."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from cellworth import Prices, StopRule, Table
from cellworth.table.files import FileBytes
from cellworth.web.worker_tasks import MEDIA, ask_and_tell, make_file, make_report
from tests.campaign.campaigns import answers_to, begin, gaussian_table
from tests.campaign.on_blocks import begin_both, make_tables, values_for


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


def made(campaign, what, ending, **settings):
    """Return the bytes of a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{what}.{ending}"
        make_file(campaign, str(path), what, ending, **settings)
        return path.read_bytes()


def read(content, ending, like):
    return Table.read(FileBytes(f"t.{ending}", content), **like.keywords())


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_the_table_comes_back(campaign, ending):
    table = campaign.table
    found = read(made(campaign, "table", ending), ending, table)
    assert np.array_equal(found.values, table.values, equal_nan=True)
    assert found.row_ids == table.row_ids
    filled = read(made(campaign, "filled", ending), ending, table)
    assert not filled.holes.any()
    known = ~table.holes
    assert np.array_equal(filled.values[known], table.values[known])


def test_the_ledger_has_every_cell_of_every_event(campaign):
    lines = list(csv.reader(io.StringIO(made(campaign, "ledger", "csv").decode("utf-8-sig"))))
    assert [line[3] for line in lines[1:]] == ["asked for"] * 4 + ["bought"] * 2
    assert lines[1][2] == "'=Ann"  # disarmed for spreadsheets that read text
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = parquet.read_table(io.BytesIO(made(campaign, "ledger", "parquet"))).to_pylist()
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(io.BytesIO(made(campaign, "ledger", "xlsx"))).active
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == lines[0] == list(frame[0])
    assert rows[1:] == [list(each.values()) for each in frame]
    assert frame[0]["who"] == "=Ann"
    assert [row[4:6] for row in rows[1:]] == [line[4:6] for line in lines[1:]]


def test_the_report_is_one_page(campaign, tmp_path):
    make_report(campaign, str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_bytes()
    assert page.startswith(b"<!doctype html>"[:5]) or b"<html" in page[:300]
    assert set(MEDIA) == {"csv", "xlsx", "parquet", "html"}


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize("what", ["table", "filled"])
def test_of_row_blocks_files_are_those_of_the_table_in_memory(tmp_path, what, ending, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("cellworth.blocks.writing.PART_CELLS", 60)
    tables = make_tables(tmp_path)
    pair = begin_both(tables, "ids")
    for campaign in pair:
        batch = campaign.ask(count=9)
        campaign.tell(values_for(batch[:6], tables["ids"][1], np.random.default_rng(1)))
        campaign.extend({"=new": {"weight": 71.5}})
    big, small = (made(campaign, what, ending) for campaign in pair)
    if (what, ending) == ("table", "csv"):
        assert big == small
        assert b"'=new" in big
    one, other = (read(content, ending, pair[1].table) for content in (big, small))
    assert one.row_ids == other.row_ids
    # Sums over other blocks differ by rounding.
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12)
