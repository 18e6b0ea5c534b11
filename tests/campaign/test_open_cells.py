"""Cells that somebody works on: taken, kept from others, given back, and answered all the same."""

import threading
from datetime import timedelta

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from tests.campaign.campaigns import Clock, Interrupted, answers_to, begin, make_table


def test_a_cell_is_with_one_person_until_the_lease_ends():
    clock = Clock()
    campaign = begin(clock=clock)
    batch = campaign.ask(count=3, who="Ann")
    (mine,) = campaign.take(batch[:1], who="Bea", lease="2h")
    assert (mine.asked_by, mine.holder, mine.held_until) == ("Ann", "Bea", clock.time + timedelta(hours=2))
    assert campaign.open_purchases()[0] == mine
    with pytest.raises(ConflictError, match=r"is with 'Bea' until 2024-05-01 14:00 UTC. Take another cell"):
        campaign.take(batch, who="Cy")
    assert campaign.number == 2  # all or none
    assert [p.holder for p in campaign.take(5, who="Cy")] == ["Cy", "Cy"]  # those that nobody has
    assert campaign.take(5, who="Cy") == []
    clock.advance(hours=1)
    (again,) = campaign.take(batch[:1], who="Bea", lease="2h")  # renewed
    assert again.held_until == clock.time + timedelta(hours=2)
    clock.advance(hours=2)
    assert [p.holder for p in campaign.open_purchases()] == [None, "Cy", "Cy"]
    assert campaign.take(batch[:1], who="Cy")[0].holder == "Cy"


def test_an_answer_of_somebody_else_is_never_lost():
    campaign = begin()
    batch = campaign.ask(count=2)
    campaign.take(batch, who="Bea")
    assert campaign.tell(answers_to(batch), who="Cy") == 2
    assert campaign.open_purchases() == []
    assert campaign.open_page(holder="Bea").purchases == []


def test_giving_back():
    campaign = begin()
    batch = campaign.ask(count=3)
    campaign.take(batch[:2], who="Bea")
    with pytest.raises(ConflictError, match=r"is with 'Bea'.*Only they can give it back"):
        campaign.give_back(batch[:1], who="Cy")
    assert campaign.give_back(batch, who="Bea") == 2  # the third was never taken
    assert campaign.give_back(batch, who="Bea") == 0
    assert campaign.number == 3
    assert campaign.take(batch[:1], who="Cy")[0].holder == "Cy"
    campaign.cancel(batch[:1])
    assert campaign.give_back(batch[:1], who="Cy") == 0


def test_what_cannot_be_taken():
    clock = Clock()
    campaign = begin(clock=clock)
    told, refused, cancelled, expired = campaign.ask(count=4, lease="1h")
    campaign.tell(answers_to([told]))
    campaign.refuse([refused], "lost")
    campaign.cancel([cancelled])
    clock.advance(hours=1)
    for cell, words in (
        (told, "already has a value"),
        (refused, "was refused"),
        (cancelled, "no longer out"),
        (expired, "no longer out"),
    ):
        with pytest.raises(ConflictError, match=words):
            campaign.take([cell], who="Bea")
    table = make_table()
    asked = {(p.row, p.column) for p in (told, refused, cancelled, expired)}
    never = next(
        (table.row_ids[i], table.column_names[j])
        for i, j in zip(*table.holes.nonzero(), strict=True)
        if (table.row_ids[i], table.column_names[j]) not in asked
    )
    with pytest.raises(DataError, match="never asked for"):
        campaign.take([never], who="Bea")
    with pytest.raises(DataError, match="no row 'p99'"):
        campaign.take([("p99", "age")], who="Bea")
    for wrong in (
        {"who": " "},
        {"who": None},
        {"lease": None},
        {"lease": "soon"},
        {"cells": -1},
        {"cells": True},
    ):
        with pytest.raises(ParameterError):
            campaign.take(**{"cells": 1, "who": "Bea", **wrong})
    with pytest.raises(ParameterError):
        campaign.give_back([], who="")
    assert campaign.number == 4
    with pytest.raises(ParameterError, match="read-only"):
        campaign.replay(1).take(1, who="Bea")


def test_whoever_is_quicker_has_the_cell():
    store = MemoryStore()
    other = begin(store=store)
    batch = other.ask(count=2)
    late = Interrupted(store, lambda: other.take(batch[:1], who="Cy"), lambda: other.take(1, who="Cy"))
    campaign = Campaign.open(late, clock=Clock())
    with pytest.raises(ConflictError, match="is with 'Cy'"):
        campaign.take(batch[:1], who="Bea")
    assert campaign.take(1, who="Bea") == []  # the other one went to Cy, just before


def test_many_at_once_never_have_the_same_cell(sqlite_url):
    with begin(store=sqlite_url, strategy="random", budget=None) as campaign:
        campaign.ask(count=40, lease=None)
    had = {}

    def work(who):
        with Campaign.open(sqlite_url, clock=Clock()) as mine:
            had[who] = []
            while taken := mine.take(3, who=who):
                had[who] += [(p.row, p.column) for p in taken]

    threads = [threading.Thread(target=work, args=(f"person {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cells = [cell for each in had.values() for cell in each]
    assert len(cells) == len(set(cells)) == 40


@pytest.mark.parametrize("kind", ["sqlite_url", "postgresql_url"])
def test_stores_give_the_first_events_only(kind, request, opened):
    store = opened(request.getfixturevalue(kind))
    with begin(store=store) as campaign:
        for age in range(20, 25):
            campaign.correct("p0", "age", age)
    assert [event.number for event in store.events("study", 1, 2)] == [2, 3]
    assert store.events("study", 0, 0) == []
    assert len(store.events("study", 0, 99)) == 5


def test_a_manager_takes_cells_back_from_whoever_has_them():
    campaign = begin(strategy="random")
    batch = campaign.ask(count=3)
    campaign.take(batch[:2], who="Ann")
    with pytest.raises(ConflictError):
        campaign.take(batch[:1], who="Bob")
    assert campaign.release(batch, who="Boss", reason="Ann is ill") == 2
    assert campaign.release(batch, who="Boss") == 0
    assert {each.holder for each in campaign.open_purchases()} == {None}
    assert len(campaign.open_purchases()) == 3
    assert campaign.take(batch[:1], who="Bob")
    event = campaign.events()[-2]
    assert (event.kind, event.who, event.content.reason, len(event.content.cells)) == (
        "released",
        "Boss",
        "Ann is ill",
        2,
    )
    with pytest.raises(DataError, match="Did you mean"):
        campaign.release([("p1", "agee")])


def test_counts_pages_and_the_order_of_rows():
    campaign = begin()
    batch = campaign.ask(count=12, who="Ann")
    campaign.take(batch[:3], who="Bea")
    counts = campaign.open_counts()
    assert (counts.total, counts.free) == (12, 9)
    assert (counts.askers, counts.holders) == ({"Ann": 12}, {"Bea": 3})
    names = [column.name for column in campaign.original.columns]
    assert list(counts.columns.items()) == [
        (name, sum(each.column == name for each in batch))
        for name in names
        if name in {each.column for each in batch}
    ]
    order = {row: place for place, row in enumerate(campaign.original.row_ids)}
    by_row, after = [], 0
    while after is not None:
        page = campaign.open_page(after, 5, by_row=True)
        assert page.matching == 12
        by_row, after = by_row + page.purchases, page.after
    assert by_row == sorted(
        campaign.open_purchases(), key=lambda each: (order[each.row], names.index(each.column))
    )
    text = batch[0].row[-2:].upper()
    found = campaign.open_page(row_contains=text).purchases
    assert {each.row for each in found} == {each.row for each in batch if text in each.row.upper()}
    assert campaign.open_page(row="no such row").matching == 0
    assert campaign.open_page(column="no such column").purchases == []


def test_a_page_looks_at_no_cell_but_its_own():
    """At 10 us a cell, 65,000 open cells once made each page a second."""

    class NoLoop(dict):
        def __iter__(self):
            raise AssertionError("looked at every cell")

        items = values = keys = __iter__

    campaign = begin()
    batch = campaign.ask(count=12, who="Ann")
    campaign.take(batch[:2], who="Bea")
    campaign.open_counts()  # the first question makes the arrays
    state = campaign._log.state
    state.open.asked, state.open.held = NoLoop(state.open.asked), NoLoop(state.open.held)
    assert campaign.open_page(0, 5).purchases == list(campaign.open_page(0, 12).purchases)[:5]
    assert campaign.open_page(holder="Bea", by_row=True).matching == 2
    assert campaign.open_counts().total == campaign.totals().open == 12
    assert len(campaign.take(4, who="Cy")) == 4
    assert campaign.open_counts().holders == {"Bea": 2, "Cy": 4}
