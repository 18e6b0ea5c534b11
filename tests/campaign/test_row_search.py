"""Rows by their ids and the status of their cells: on blocks as in memory, and as a plain loop finds them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Campaign
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import DataError, ParameterError
from tests.campaign.campaigns import Clock
from tests.campaign.on_blocks import begin_both, make_tables, values_for

pytest.importorskip("pyarrow")

WORDS = ("known", "bought", "out", "refused", "missing")
COLUMNS = (None, "weight", "visits", "hue", "smoker", "seen", "ill")


@pytest.fixture(scope="module", params=["ids", "numbers"])
def both(request, tmp_path_factory):
    """A campaign on blocks and one in memory, with cells of every status, and rows that were added."""
    tables = make_tables(tmp_path_factory.mktemp("searched"))
    pair = begin_both(tables, request.param, strategy="random")
    for campaign in pair:
        batch = campaign.ask(count=12)
        cells = [(each.row, each.column) for each in batch]
        campaign.refuse(cells[:3], "no")
        campaign.tell(values_for(batch[3:8], tables[request.param][1], np.random.default_rng(1)))
        campaign.cancel(cells[8:9])
        campaign.extend({"New P1": {"weight": 71.5}, "new-2": {"visits": 3}})
        campaign.ask(count=2, lease="1h")
        campaign.tell({("New P1", "visits"): 4}, unsolicited=True)
    return pair


def by_a_loop(campaign, text, column, words):
    """Return the places of the rows that fit, one row after the other."""
    found = []
    for record in campaign.rows(0, 10_000):
        cells = [each for each in (*record.cells, record.label) if each and column in (None, each.column)]
        if text.casefold() in record.row.casefold() and (not words or any(c.status in words for c in cells)):
            found.append(record.place)
    return found


def pages(campaign, most, **wanted):
    """Yield all pages."""
    after = 0
    while after is not None:
        page = campaign.search_rows(after, most, **wanted)
        assert len(page.rows) <= most
        assert page.after is None or page.after > after
        assert page.looked_at == (campaign.table.shape[0] if page.after is None else page.after)
        yield page
        after = page.after


@settings(max_examples=60, deadline=None)
@given(
    text=st.sampled_from(["", "1", "P1", "p", "new", "nobody"]),
    column=st.sampled_from(COLUMNS),
    words=st.lists(st.sampled_from(WORDS), unique=True, max_size=3),
    most=st.sampled_from([1, 3, 50, 1000]),
    at_once=st.sampled_from([1, 7, 60]),
    looked_at=st.sampled_from([20, 55, 1000]),
)
def test_pages_have_the_rows_of_a_plain_loop(both, text, column, words, most, at_once, looked_at):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cellworth.campaign.row_search.FEWEST_AT_ONCE", at_once)
        patch.setattr("cellworth.campaign.row_search.MOST_LOOKED_AT", looked_at)
        patch.setattr("cellworth.campaign.row_search.SPAN", 10)
        found = []
        for campaign in both:
            where = column if words else None
            every = pages(campaign, most, row_contains=text, column=where, status=words)
            found.append(list(itertools.chain.from_iterable(page.rows for page in every)))
    assert [each.place for each in found[0]] == by_a_loop(both[1], text, column, words)
    assert found[0] == found[1]


def test_a_cell_whose_lease_has_ended_is_missing_again(tmp_path):
    clock = Clock()
    pair = [
        Campaign.create(table, store=MemoryStore(), clock=clock, prices=1.0, strategy="random")
        for table in make_tables(tmp_path)["ids"]
    ]
    for campaign in pair:
        (asked,) = campaign.ask(count=1, lease="1h")

        def rows_with(word, campaign=campaign, asked=asked):
            return [row.row for row in campaign.search_rows(0, 1000, column=asked.column, status=[word]).rows]

        assert rows_with("out") == [asked.row]
        assert asked.row not in rows_with("missing")
        clock.advance(hours=2)
        assert rows_with("out") == []
        assert asked.row in rows_with("missing")
        clock.advance(hours=-2)


def test_a_call_looks_at_no_more_than_it_says(both, monkeypatch):
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_LOOKED_AT", 40)
    monkeypatch.setattr("cellworth.campaign.row_search.FEWEST_AT_ONCE", 10)
    big, _ = both
    page = big.search_rows(row_contains="nobody")
    assert (page.rows, page.after, page.looked_at) == ([], 40, 40)


def test_what_events_did_is_found_without_a_pass(both, monkeypatch):
    big, _ = both
    monkeypatch.delattr("cellworth.campaign.cells_on_blocks.CellsOnBlocks.status_between")
    assert len(big.search_rows(status=["bought", "refused"]).rows) >= 3


def test_wrong_columns_and_statuses_are_named(both):
    for campaign in both:
        with pytest.raises(DataError, match="weihgt"):
            campaign.search_rows(column="weihgt", status=["missing"])
        with pytest.raises(ParameterError, match="none is given with 'weight'; add one, such as 'missing'"):
            campaign.search_rows(column="weight")
        with pytest.raises(ParameterError, match="one of missing, out, known, bought, refused; got 'sold'"):
            campaign.search_rows(status=["sold"])


def test_a_row_that_is_not_there_is_named_with_the_number_of_all_rows(both):
    for campaign in both:
        with pytest.raises(DataError, match=rf"and {campaign.table.shape[0] - 10} more"):
            campaign.row("nobody")
