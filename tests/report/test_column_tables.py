"""The report of a campaign whose table is in row blocks."""

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.blocks import row_sample
from cellworth.campaign.stores import MemoryStore
from tests.strategy.labelled_in_part import both_without_labels
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")


def test_a_report_has_the_map_of_some_rows_and_the_worths_of_all(tmp_path, monkeypatch, linear_model_in_use):
    monkeypatch.setattr(row_sample, "SAMPLE_ROWS", 100)
    monkeypatch.setattr("cellworth.report.campaign_report.MOST_BANDS", 150)
    big, _ = both_of(tmp_path, make_frame(np.random.default_rng(0), 300))
    with Campaign.create(big, store=MemoryStore(), strategy="posterior", prices=2.0, budget=900) as campaign:
        batch = [each for each in campaign.ask(count=60) if each.column == "weight"]
        campaign.tell({(each.row, each.column): 71.5 for each in batch})
        campaign.write_report(tmp_path / "report.html")
        left = campaign.table.holes_by_column[0]
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "on a sample of 100 of 300 rows" in text
    assert "errors were measured on a sample of 100 of 300 rows; all else is of all rows" in text
    assert "Worth and price of 5 columns" in text
    assert "Map of 300 rows and 5 columns" in text
    assert "one row in 2 is drawn, 150 of 300" in text
    start = big.holes_by_column[0]
    assert start - left == len(batch) > 0
    cells = [f"{start / 300:.0%}", f"{left / 300:.0%}", f"{len(batch):,}"]
    row = next(line for line in text.splitlines() if "weight" in line and cells[0] in line)
    assert all(each in row for each in cells)
    assert "71.5" in text  # in the ledger
    assert text.count("Still out") >= 1


def test_labels_are_listed_if_they_are_bought(tmp_path, linear_model_in_use):
    big, _ = both_without_labels(tmp_path)
    said = {"strategy": "label-error-reduction", "prices": Prices.per_column({"ill": 3.0}, default=1.0)}
    with Campaign.create(big, store=MemoryStore(), budget=900, **said) as campaign:
        campaign.tell({(each.row, "ill"): 1 for each in campaign.ask(count=7)})
        campaign.write_report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    start = big.n_unlabelled
    cells = [f"{start / 160:.0%}", f"{(start - 7) / 160:.0%}", ">7<"]
    row = next(line for line in text.splitlines() if "not guessed" in line and cells[0] in line)
    assert all(each in row for each in cells)
