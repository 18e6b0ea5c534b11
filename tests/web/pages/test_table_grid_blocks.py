"""The grid of a table in row blocks: its filters find the rows that they find in memory."""

import itertools

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import ParameterError
from cellworth.web.pages.table_grid import GridFilter, window_of
from cellworth.web.url_paths import segment
from tests.campaign.on_blocks import begin_both, make_tables, with_every_status
from tests.strategy.labelled_in_part import both_without_labels
from tests.strategy.test_block_batch import both_of, make_frame
from tests.web.servers import begin

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module", params=["ids", "numbers"])
def both(request, tmp_path_factory):
    """A campaign on blocks and one in memory, with cells of every status."""
    tables = make_tables(tmp_path_factory.mktemp("grid"))
    pair = begin_both(tables, request.param, strategy="random")
    return with_every_status(pair, tables[request.param][1])


def all_rows(view, count, **fields):
    """Return the rows of all windows of a search, one after the other."""
    found, after = [], 0
    while after is not None:
        window = window_of(view, GridFilter(**fields, after=after), 0, count)
        assert (window.total, window.first, window.sortable) == (len(window.rows), 0, True)
        looked, n = window.looked, view.table.shape[0]
        assert (looked.first, looked.rows) == (after + 1, n)
        assert looked.last == (n if looked.after is None else looked.after)
        found, after = [*found, *window.rows], looked.after
    return found


@pytest.mark.parametrize("looked_at", [25, 1_000_000])
@pytest.mark.parametrize("count", [4, 200])
def test_filters_find_the_rows_of_the_table_in_memory(both, count, looked_at, monkeypatch):
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_LOOKED_AT", looked_at)
    big, small = both
    texts, columns = ["", "P1", "1", "nobody"], ["", "weight", "hue", "ill", "no such"]
    for find, missing in itertools.product(texts, columns):
        if find or missing:
            expected = window_of(small, GridFilter(find, missing), 0, 200)
            assert expected.looked is None
            assert all_rows(big, count, find=find, missing=missing) == expected.rows


@pytest.mark.parametrize("count", [4, 200])
def test_statuses_find_the_rows_of_the_table_in_memory(both, count):
    big, small = both
    for status, missing in itertools.product(["bought", "out", "refused", "sold"], ["", "weight", "hue"]):
        expected = window_of(small, GridFilter(missing=missing, status=status), 0, 200)
        assert expected.looked is None
        assert all_rows(big, count, missing=missing, status=status) == expected.rows
    assert window_of(small, GridFilter(status="bought"), 0, 200).total in (1, 2, 3)


def test_without_a_filter_windows_are_the_same(both):
    big, small = (window_of(view, GridFilter(), 30, 20) for view in both)
    assert (big.rows, big.total, big.first) == (small.rows, small.total, small.first)
    assert (big.sortable, small.sortable) == (True, True)


def test_sorted_windows_are_those_of_the_table_in_memory(both):
    columns = ["", *(column.name for column in both[0].columns), "no such"]
    filters = [{}, {"find": "1"}, {"missing": "hue"}, {"status": "bought"}, {"find": "nobody"}]
    for sort, down, some in itertools.product(columns, ["", "1"], filters):
        if sort or down:
            chosen = GridFilter(sort=sort, down=down, **some)
            big, small = (window_of(view, chosen, 3, 20) for view in both)
            assert big.rows == small.rows
            assert (big.total, big.first, big.looked) == (small.total, small.first, None)
            assert not big.only_first


def test_of_a_long_table_the_first_rows_are_shown_and_one_too_long_is_not_sorted(both, monkeypatch):
    big, small = both
    expected = window_of(small, GridFilter(sort="weight", down="1", find="1"), 0, 200).rows
    assert len(expected) > 7
    for module in ("cellworth.campaign.row_search", "cellworth.web.pages.table_grid"):
        monkeypatch.setattr(f"{module}.MOST_SORTED", 7)
    found = window_of(big, GridFilter(sort="weight", down="1", find="1", after=1), 0, 200)
    assert found.rows == expected[:7]
    assert found.only_first
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_ROWS_TO_SORT", 20)
    assert not window_of(big, GridFilter(), 0, 5).sortable
    assert window_of(small, GridFilter(), 0, 5).sortable
    with pytest.raises(ParameterError, match="Search for rows by a text"):
        window_of(big, GridFilter(sort="hue", find="2"), 0, 20)


def test_labels_that_are_for_sale_are_filtered_like_cells(tmp_path):
    prices = Prices.per_column({"ill": 3.0}, default=1.0)
    big, small = (
        Campaign.create(table, store=MemoryStore(), prices=prices, strategy="random")
        for table in both_without_labels(tmp_path)
    )
    expected = window_of(small, GridFilter(missing="ill"), 0, 200)
    assert expected.total == small.n_unlabelled
    assert all_rows(big, 200, missing="ill")[:200] == expected.rows


def test_the_page_says_how_far_it_looked_and_goes_on(http, shared_url, tmp_path, monkeypatch):
    table, whole = both_of(tmp_path, make_frame(np.random.default_rng(0)))
    name = f"grid {tmp_path.name}"
    begin(shared_url, table, name, prices=1.5, strategy="random")
    path = f"/campaigns/{segment(name)}/table"
    page = http.get(path).text
    assert "?sort=weight" in page
    assert "These are the first" not in page
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_SORTED", 30)
    monkeypatch.setattr("cellworth.web.pages.table_grid.MOST_SORTED", 30)
    page = http.get(path, params={"sort": "weight"}).text
    assert "These are the first 30 rows in this order" in page
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_ROWS_TO_SORT", 20)
    page = http.get(path).text
    assert "too large to be sorted here" in page
    assert "sort=" not in page
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_LOOKED_AT", 20)
    page = http.get(path, params={"find": "nobody"}).text
    assert f"Rows 1 to 20 of {len(whole.row_ids)} were looked at." in page
    assert f"{path}?find=nobody&amp;after=20" in page
    assert "No row fits" in page
    german = http.get(path, params={"find": "nobody"}, headers={"cookie": "cellworth_language=de"}).text
    assert "wurden durchsucht" in german
    last = http.get(path, params={"find": "nobody", "after": len(whole.row_ids) - 5}).text
    assert "Look further" not in last
    n = len(whole.row_ids)
    beyond = http.get(path, params={"find": "nobody", "after": 10 * n}).text
    assert f"Rows {n} to {n} of {n} were looked at." in beyond
    found = http.get(f"{path}/rows.json", params={"missing": "weight", "count": 3}).json()
    expected = [row for row, hole in zip(whole.row_ids, whole.holes[:, 0], strict=True) if hole][:3]
    assert [row["id"] for row in found["rows"]] == expected
    assert found["looked"]["after"] == whole.row_index(expected[-1]) + 1
    assert http.get(path, params={"after": -1}).status_code == 422
