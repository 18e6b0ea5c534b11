"""A campaign on a table in row blocks, by REST and on the pages."""

import numpy as np
import pytest

from cellworth import Campaign, Prices, Table
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import DataError
from cellworth.report import row_summary
from cellworth.table.files import FileBytes
from cellworth.web.url_paths import segment
from tests.campaign.linear_scoring import use_linear_model
from tests.strategy.labelled_in_part import both_without_labels
from tests.strategy.test_block_batch import both_of, make_frame
from tests.web.servers import api, begin

pytest.importorskip("pyarrow")


@pytest.fixture
def big(client, shared_url, tmp_path):
    """The campaign, through the client, and its table in memory."""
    table, whole = both_of(tmp_path, make_frame(np.random.default_rng(0)))
    name = f"big {tmp_path.name}"
    begin(shared_url, table, name, prices=1.5, budget=50.0, strategy="random")
    return client.campaign(name), whole


def test_rows_columns_asks_and_answers(big, http):
    study, whole = big
    page = http.get(api(study.name, "rows"), params={"after": 35, "limit": 7}).json()
    assert [row["row"] for row in page["items"]] == list(whole.row_ids[35:42])
    assert [each["missing"] for each in study.columns()] == whole.holes.sum(axis=0).tolist()
    batch = study.ask(count=3)
    cell = next(each for each in batch)
    j = whole.column_index(cell.column)
    value = whole.columns[j].format(float(np.nanmax(whole.values[:, j])))
    value = value.isoformat() if hasattr(value, "isoformat") else value
    assert study.tell({(cell.row, cell.column): value}) == 1
    assert study.totals().bought == 1
    status = {each["column"]: each["status"] for each in study.row(cell.row)["cells"]}
    assert status[cell.column] == "bought"


def test_rows_are_searched_in_pages(big, http, monkeypatch):
    study, whole = big
    asked = study.ask(count=3)
    study.refuse([(asked[0].row, asked[0].column)], "no")
    path, j = api(study.name, "rows"), whole.column_index("weight")
    wanted = [row for row in whole.row_ids if "p1" in row]
    assert [row["row"] for row in study.rows(row_contains="P1")] == wanted
    first = http.get(path, params={"row_contains": "P1", "limit": 4}).json()
    assert [row["row"] for row in first["items"]] == wanted[:4]
    assert first["next"] == whole.row_index(wanted[3]) + 1
    empty = [row["row"] for row in study.rows(column="weight", status=["missing", "out", "refused"])]
    assert empty == [row for row, hole in zip(whole.row_ids, whole.holes[:, j], strict=True) if hole]
    assert [row["row"] for row in study.rows(status=["refused"])] == [asked[0].row]
    assert {row["row"] for row in study.rows(status=["out"])} == {each.row for each in asked[1:]}
    assert "weihgt" in http.get(path, params={"column": "weihgt"}).text
    assert http.get(path, params={"status": "sold"}).status_code == 422
    alone = http.get(path, params={"column": "weight"})
    assert 400 <= alone.status_code < 500
    assert "such as 'missing'" in alone.text
    # A page that ends early says how far it looked; here the server runs in this process.
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_LOOKED_AT", 20)
    assert http.get(path, params={"row_contains": "nobody"}).json() == {"items": [], "next": 20}
    assert list(study.rows(row_contains="nobody")) == []


def test_rows_are_sorted_in_pages(big, http):
    study, whole = big
    j = whole.column_index("weight")
    order = np.argsort(-whole.values[:, j], kind="stable")
    wanted = [whole.row_ids[place] for place in order.tolist()]
    assert [row["row"] for row in study.rows(sort="weight", descending=True)] == wanted
    query = {"sort": "weight", "descending": True, "after": 5, "limit": 4}
    page = http.get(api(study.name, "rows"), params=query).json()
    assert [row["row"] for row in page["items"]] == wanted[5:9]
    assert page["next"] == 9
    few = [row for row in wanted if "p1" in row]
    assert [row["row"] for row in study.rows(sort="weight", descending=True, row_contains="P1")] == few
    assert "weihgt" in http.get(api(study.name, "rows"), params={"sort": "weihgt"}).text


def test_the_grid_and_the_queue_are_shown(big, http):
    study, whole = big
    study.ask(count=3)
    grid = http.get(f"/campaigns/{study.name}/table")
    assert grid.status_code == 200
    assert whole.row_ids[0] in grid.text
    for page in ("/queue", "", "/ledger", "/manage"):
        assert http.get(f"/campaigns/{study.name}{page}").status_code == 200, page


def test_the_whole_table_is_downloaded(big, http):
    study, whole = big
    assert http.get(api(study.name, "table.csv"), params={"raw": True}).text == whole.to_csv()
    sent = http.get(api(study.name, "download/table"), params={"format": "parquet"})
    assert sent.headers["content-disposition"] == 'attachment; filename="table.parquet"'
    assert Table.read(FileBytes("t.parquet", sent.content)).equals(whole)
    page = http.get(f"/campaigns/{segment(study.name)}/files/table.csv")
    assert page.headers["content-type"] == "text/csv; charset=utf-8"
    assert page.text == whole.to_csv()
    filled = http.get(api(study.name, "download/filled"), params={"format": "csv"})
    read = Table.read(FileBytes("t.csv", filled.content), **whole.keywords())
    assert not read.holes.any()


def test_estimates_are_those_of_the_table_in_memory(big, http):
    study, whole = big
    with Campaign.create(whole, store=MemoryStore(), prices=1.5, budget=50.0, strategy="random") as small:
        for row in (whole.row_ids[0], whole.row_ids[99]):
            found = http.get(api(study.name, f"rows/{segment(row)}/estimates")).json()
            expected = row_summary(small, row).to_json()
            assert found["level"] is expected["level"] is None  # the completer of "random" has no intervals
            for one, other in zip(found["cells"], expected["cells"], strict=True):
                assert one["worth"] == pytest.approx(other["worth"])
                for name in ("column", "status", "price", "value", "estimate", "low", "high", "rank", "of"):
                    assert one[name] == other[name], name
    assert http.get(api(study.name, "rows/nobody/estimates")).status_code == 404


def test_rows_are_added_by_rest(big, http):
    study, whole = big
    study.extend({"new": {"weight": 71.5}})
    page = http.get(api(study.name, "rows"), params={"after": len(whole.row_ids), "limit": 7}).json()
    assert [row["row"] for row in page["items"]] == ["new"]


def test_pages_say_what_they_can_of_row_blocks(big, http):
    study, whole = big
    study.ask(count=3)
    path = f"/campaigns/{segment(study.name)}"
    row = http.get(f"{path}/rows/2", headers={"accept": "text/html"})
    assert row.status_code == 200
    assert whole.row_ids[2] in row.text
    guesses = http.get(f"{path}/table/guesses.json", params={"place": [2, 3]}).json()
    assert {place: [cell is None for cell in cells] for place, cells in guesses.items()} == {
        str(place): (~whole.holes[place]).tolist() for place in (2, 3)
    }
    part = http.get(f"{path}/map.json", params={"first": 30, "last": 50}).json()
    assert part["ids"] == list(whole.row_ids[30:50])
    assert sum(code < 100 for codes in part["codes"] for code in codes) == (~whole.holes[30:50]).sum()


def test_the_next_value_of_a_row_is_asked_for_on_the_page_and_by_rest(big, http, monkeypatch):
    study, whole = big
    path, j = f"/campaigns/{segment(study.name)}/next", whole.column_index("visits")
    place = int(np.nanargmax(whole.values[:, j]))
    row, known = whole.row_ids[place], f'value="{whole.values[place, j]:.0f}"'
    assert known in http.get(path, params={"row": row}).text
    assert known not in http.get(path).text
    assert http.get(path, params={"row": "nobody"}).status_code == 200
    step = http.post(api(study.name, "next"), json={"row": row, "confidence": 0.9}).json()
    use_linear_model(monkeypatch.setattr)  # as the worker of these tests
    with Campaign.create(whole, store=MemoryStore(), prices=1.5, budget=50.0, strategy="random") as small:
        expected = small.next_cell(row, confidence=0.9).to_json()
    assert step["probabilities"] == pytest.approx(expected["probabilities"])
    assert (step["take"], step["stop"]) == (expected["take"], expected["stop"])


@pytest.mark.slow
def test_labels_are_bought_by_rest_and_shown_on_the_pages(client, shared_url, http, tmp_path):
    table, whole = both_without_labels(tmp_path)
    name = f"labels {tmp_path.name}"
    prices = Prices.per_column({"ill": 3.0}, default=1.0)
    begin(shared_url, table, name, prices=prices, budget=500.0, strategy="label-error-reduction")
    study, missing = client.campaign(name), int(np.isnan(whole.target.values).sum())
    ill = study.columns()[-1]
    assert (ill["name"], ill["labels"], ill["missing"]) == ("ill", True, missing)
    one, other, *_ = asked = study.ask(count=4)
    assert {(each.column, each.price) for each in asked} == {("ill", 3.0)}
    assert study.row(one.row)["label"] == {"column": "ill", "status": "out", "value": None}
    with pytest.raises(DataError, match="column 'ill': expected one of the classes 0, 1, got 7"):
        study.tell({(one.row, "ill"): 7})
    assert study.tell({(one.row, "ill"): 1}) == 1
    assert study.row(one.row)["label"] == {"column": "ill", "status": "bought", "value": 1}
    assert study.refuse([(other.row, "ill")], "no consent") == 1
    assert study.totals().spent == 3.0
    assert study.columns()[-1]["missing"] == missing - 1
    place = whole.row_index(one.row)
    for page in ("queue", "table", f"rows/{place}", "ledger", "manage"):
        shown = http.get(f"/campaigns/{segment(name)}/{page}")
        assert shown.status_code == 200, page
        assert "ill" in shown.text, page
