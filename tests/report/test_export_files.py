"""A campaign's files, to be taken away."""

import pytest

from cellworth import Table
from cellworth.errors import ParameterError
from cellworth.report.export_files import FORMATS, report_file, table_file
from cellworth.table.files import FileBytes
from tests.campaign.campaigns import PRICES, make_table


@pytest.fixture(scope="module")
def campaign():
    from cellworth.campaign import Campaign
    from cellworth.campaign.stores import MemoryStore

    begun = Campaign.create(make_table(), prices=PRICES, store=MemoryStore(), strategy="random")
    begun.ask(count=2, who="Ann")
    return begun


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_table_reads_back(campaign, suffix):
    table = Table.read(FileBytes(f"t.{suffix}", table_file(campaign, suffix)))
    assert table.shape[0] == campaign.table.shape[0]


def test_the_filled_table_has_no_gaps(campaign):
    filled = Table.read(FileBytes("t.csv", table_file(campaign, "csv", filled=True)))
    assert not filled.holes.any()


def test_the_report_is_one_page(campaign):
    assert report_file(campaign).lstrip().startswith(b"<!DOCTYPE html>")


def test_other_formats_are_refused(campaign):
    with pytest.raises(ParameterError, match="csv, xlsx, parquet"):
        table_file(campaign, "exe")
