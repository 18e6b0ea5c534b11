"""New rows as people give them, and which do not fit."""

import numpy as np
import pandas
import polars
import pytest

from cellworth import Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.new_rows import read_rows
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError
from cellworth.table.files import FileBytes
from cellworth.table.text_file import TextFile
from tests.campaign.campaigns import Clock, begin, make_table, rounds_of, same_state


@pytest.fixture
def campaign():
    return begin()


def test_new_rows_as_a_table_or_by_name():
    store = MemoryStore()
    campaign = begin(store=store)
    campaign.ask(count=2)
    assert campaign.extend(make_table(n=6, seed=5, start=100)) == 6
    assert campaign.extend({"p200": {"age": 33, "outcome": "ill"}, 201: {"stage": "II", "dose": None}}) == 2
    table = campaign.table
    assert table.row_ids[-3:] == ("p105", "p200", "201")
    assert table.values[-2, table.column_index("age")] == 33
    assert table.y[-2] == 0
    assert np.isnan(table.y[-1])
    assert table.columns == campaign.original.columns
    assert same_state(Campaign.open(store, clock=Clock()), campaign)
    fresh = begin(campaign.table, budget=None)
    everything = fresh.ask(count=10_000)
    assert {"p200", "201"} <= {purchase.row for purchase in everything}
    for _ in range(2):
        campaign.ask(count=3)
    assert rounds_of(campaign) == [0, 3]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"p1": {"age": 3}}, "new rows must have new ids; already taken: 'p1'"),
        ({"x": {"aeg": 3}}, "row 'x': There is no column 'aeg'. Did you mean 'age'"),
        ({"x": {"age": "old"}}, "row 'x', column 'age': expected a whole number"),
        ({"x": {"outcome": "dead"}}, "row 'x', column 'outcome': expected one of 'ill', 'well'"),
        ({}, "at least one row"),
        ({" ": {}}, "every row needs an id"),
        (
            Table.from_arrays([[1.0], [2.0]], columns=["dose"], row_ids=["a", "b"]),
            "got none for 'age', 'stage'",
        ),
        (
            Table.from_arrays([[1.0], [2.0]], columns=["weight"], row_ids=["a", "b"]),
            "There is no column 'weight'",
        ),
        (Table.from_arrays([[1.0], [2.0]], [0, 1], columns=["dose"], row_ids=["a", "b"]), "'age'"),
    ],
)
def test_rows_that_do_not_fit(campaign, rows, message):
    with pytest.raises(DataError, match=message):
        campaign.extend(rows)
    assert campaign.number == 0


def test_rows_of_another_kind_do_not_fit(campaign):
    frame = make_table(n=8, start=300).to_frame("pandas").drop(columns="outcome").set_index("row_id")
    frame["stage"] = frame["stage"].astype(object).replace("I", "IV")
    with pytest.raises(DataError, match="column 'stage': expected one of 'I', 'II', 'III', got 'IV'"):
        campaign.extend(Table.from_frame(frame, kinds={"age": "integer"}))
    frame["stage"] = 1.5
    with pytest.raises(DataError, match="must be of the kind 'ordered', got 'number'"):
        campaign.extend(Table.from_frame(frame))


def test_a_matrix_of_prices_has_none_for_new_rows():
    table = make_table()
    campaign = begin(table, prices=Prices.per_cell(np.ones(table.shape)))
    with pytest.raises(DataError, match="matrix of prices"):
        campaign.extend({"new": {"age": 3}})


def test_rows_of_a_parquet_file_are_read_as_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    rows = make_table(5, seed=3, start=50)
    rows.write(tmp_path / "rows.parquet")
    campaign = begin()
    assert campaign.extend(read_rows(tmp_path / "rows.parquet", campaign.table)) == 5
    assert campaign.table.row_ids[-5:] == rows.row_ids


def test_a_file_is_read_as_the_table_was(tmp_path):
    text = FileBytes("t.csv", b"size;seen\n1,5;26.08.2020\n2,5;04.07.2020\n?;04.07.2020\n")
    how = TextFile(text, delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    store = MemoryStore()
    begin(Table.read(how, missing=["?"]), prices=1.0, store=store)
    campaign = Campaign.open(store, clock=Clock())
    (tmp_path / "more.csv").write_text("size;seen\n3,5;05.07.2020\n?;?\n")
    assert campaign.extend(tmp_path / "more.csv") == 2
    assert campaign.table.to_csv().splitlines()[-2:] == ["3.5,05.07.2020", ","]
    assert campaign.extend(TextFile(FileBytes("plain.csv", b"size\n4.5\n"))) == 1
    assert campaign.table.values[-1, 0] == 4.5
    assert same_state(Campaign.open(store, clock=Clock()), campaign)
    other = begin(Table.from_arrays([[1.0], [np.nan]], columns=["size"]), prices=1.0)
    with pytest.raises(DataError, match=r"'\?'"):
        other.extend(FileBytes("more.csv", b"size\n?\n"))


def test_marks_by_column(tmp_path):
    table = Table.read(FileBytes("t.csv", b"a,b\n1,1\n-9,-9\n2,3\n"), missing={"a": [-9]})
    campaign = begin(table, prices=1.0)
    campaign.extend(FileBytes("more.csv", b"a,b\n-9,-9\n"))
    assert [np.isnan(campaign.table.values[-1, 0]), campaign.table.values[-1, 1]] == [True, -9.0]


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("age", "61", "6l"),
        ("stage", "II", "IX"),
        ("visit", "2024-01-09", "2024-02-30"),
        ("outcome", "ill", "il"),
    ],
)
def test_a_wrong_cell_is_found_in_its_file(campaign, tmp_path, column, good, bad):
    path, row_id = tmp_path / "rows.csv", campaign.table.row_id or "row_id"
    path.write_text(f"{row_id},dose,{column}\nq1,1.5,{good}\n\nq2,2.5,{bad}\nq3,,{bad}\n")
    rows = campaign.table.shape[0]
    with pytest.raises(DataError, match=rf"rows\.csv, line 4: row 'q2', column '{column}': .* got '{bad}'"):
        campaign.extend(TextFile(path))
    assert campaign.table.shape[0] == rows


def test_new_rows_as_a_frame(campaign):
    rows = pandas.DataFrame({"age": [33, pandas.NA], "outcome": ["ill", None]}, index=["p200", "p201"])
    assert campaign.extend(rows, key="k") == 2
    assert campaign.extend(rows, key="k") == 2  # sent twice, recorded once
    named = begin()
    named.extend(
        polars.DataFrame(
            {campaign.table.row_id: ["p200", "p201"], "age": [33, None], "outcome": ["ill", None]}
        )
    )
    assert campaign.table.equals(named.table)
    assert campaign.table.row_ids[-2:] == ("p200", "p201")
    assert campaign.table.values[-2, campaign.table.column_index("age")] == 33
    assert campaign.table.holes[-1].all()
    with pytest.raises(ConflictError, match="a different request"):
        campaign.extend(rows.head(1), key="k")


def test_a_frame_of_new_rows_names_them(campaign):
    rows = pandas.DataFrame({"age": [33, 34]})
    with pytest.raises(DataError, match=r"expected row ids, got none\. Add the column"):
        campaign.extend(rows)
    with pytest.raises(DataError, match=r"row 'b', column 'age': expected a whole number.*, got 'old'"):
        campaign.extend(pandas.DataFrame({"age": [33, "old"]}, index=["a", "b"]))
    numbered = begin(Table.from_arrays([[1.0], [np.nan], [3.0]], columns=["age"]), prices=Prices.same(1.0))
    assert numbered.extend(rows) == 2
    assert numbered.table.row_ids == ("0", "1", "2", "3", "4")


def test_new_rows_may_be_separated_otherwise_than_the_table(tmp_path):
    (tmp_path / "t.csv").write_text("id;age\na;1,5\nb;2,5\nc;\n")
    table = Table.read(TextFile(tmp_path / "t.csv", None, ";", ","), row_id="id")
    campaign = begin(table, prices=Prices.same(1.0))
    for name, text in {"more.csv": "id;age\nd;3,5\n", "others.csv": 'id,age\ne,"4,5"\n'}.items():
        (tmp_path / name).write_text(text)
        assert campaign.extend(tmp_path / name) == 1
    assert campaign.table.values[-2:, 0].tolist() == [3.5, 4.5]
