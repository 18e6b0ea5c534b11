"""Labels on the command line: a price file that names the target puts them on the lists."""

import csv
import json

import pytest

from cellworth import Table
from cellworth.cli import main
from tests.campaign.test_campaign_labels import lacking
from tests.strategy.labelled_in_part import both_without_labels


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lacking().write("table.csv")
    (tmp_path / "prices.csv").write_text("column,price\nstate,3\n(other columns),1\n")
    return tmp_path


SAID = ["--target", "state", "--row-id", "row_id", "--prices", "prices.csv", "--strategy", "random-gaussian"]


def test_labels_are_listed_told_and_counted(folder, capsys):
    assert main(["advise", "table.csv", *SAID, "--budget", "60", "--json"]) == 0
    advised = json.loads(capsys.readouterr().out)
    assert "state" in json.dumps(advised)
    assert main(["init", "table.csv", *SAID, "--budget", "100"]) == 0
    assert main(["ask", "--budget", "60", "--out", "asks.csv"]) == 0
    capsys.readouterr()
    with (folder / "asks.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    labels = [line for line in lines if line["column"] == "state"]
    assert labels
    assert {float(line["price"]) for line in labels} == {3.0}
    for line in lines:
        line["value"] = "ill" if line["column"] == "state" else "1.0"
    labels[0]["value"] = "sick"
    _write(folder, lines)
    assert main(["tell", "asks.csv"]) == 3
    assert "column 'state': expected one of 'ill', 'well', got 'sick'" in capsys.readouterr().err
    labels[0]["value"] = "well"
    _write(folder, lines)
    assert main(["tell", "asks.csv"]) == 0
    assert main(["refuse", "p0:state", "--reason", "no"]) != 0  # it has a label
    assert "cannot be refused" in capsys.readouterr().err
    assert main(["export", "filled.csv"]) == 0 or main(["fill", "--out", "filled.csv"]) == 0


def _write(folder, lines):
    with (folder / "asks.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)


def test_a_price_of_0_and_an_unknown_target_are_refused_at_once(folder, capsys):
    (folder / "prices.csv").write_text("column,price\nstate,0\n(other columns),1\n")
    assert main(["init", "table.csv", *SAID]) == 3
    assert "line 2, column 'price': the price of 'state' must be a positive" in capsys.readouterr().err
    (folder / "prices.csv").write_text("column,price\nstat,3\n(other columns),1\n")
    assert main(["init", "table.csv", *SAID]) == 3
    assert "no column 'stat'" in capsys.readouterr().err
    assert not (folder / "study.db").exists()


def test_labels_of_a_folder_in_row_blocks_are_listed_told_and_corrected(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    both_without_labels(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text("column,price\nill,3\n(other columns),1\n")
    said = [
        "--target",
        "ill",
        "--row-id",
        "id",
        "--prices",
        "prices.csv",
        "--strategy",
        "label-error-reduction",
    ]
    lists = []
    for table in ("big", "all.parquet"):
        assert main(["advise", table, *said, "--budget", "12", "--json"]) == 0
        cells = json.loads(capsys.readouterr().out)["cells"]
        lists.append([(each["row"], each["column"], each["price"]) for each in cells])
    assert lists[0] == lists[1]
    assert {(column, price) for _, column, price in lists[0]} == {("ill", 3.0)}
    assert main(["init", "big", *said, "--budget", "100"]) == 0
    assert main(["ask", "--budget", "12"]) == 0
    row = lists[0][0][0]
    answers = tmp_path / "answers.csv"
    answers.write_text(f"row,column,value\n{row},ill,5\n")
    assert main(["tell", "answers.csv"]) == 3
    assert "column 'ill': expected one of the classes 0, 1, got '5'" in capsys.readouterr().err
    answers.write_text(f"row,column,value\n{row},ill,1\n")
    assert main(["tell", "answers.csv"]) == 0
    assert main(["correct", f"{row}:ill", "0"]) == 0
    assert main(["refuse", f"{lists[0][1][0]}:ill", "--reason", "no consent"]) == 0
    assert main(["export", "--out", "now"]) == 0
    now = Table.open(tmp_path / "now", target="ill", row_id="id")
    assert now.rows(now.row_numbers([row])).target.values.tolist() == [0.0]
