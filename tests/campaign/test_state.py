"""The state of a campaign: its money adds up, and a correction keeps the old value."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Table
from cellworth.campaign.cell_events import Asked, AskedCell, Cancelled, CellName, Told, ToldCell
from cellworth.campaign.event_codec import Event
from cellworth.campaign.spending import Spending, Terms
from cellworth.campaign.state import State
from cellworth.errors import DataError
from tests.campaign.campaigns import Clock, answers_to, begin, hole
from tests.campaign.test_spending import asked, owed


def test_money_is_reserved_spent_and_released():
    campaign = begin(budget=10.0)
    batch = campaign.ask(budget=4.0)
    total = sum(purchase.price for purchase in batch)
    assert 0 < total <= 4.0
    assert campaign.reserved == pytest.approx(total)
    campaign.tell(answers_to(batch[:1]))
    campaign.refuse(batch[1:2], "lost")
    assert campaign.spent == batch[0].price
    assert campaign.reserved == pytest.approx(total - batch[0].price - batch[1].price)
    assert campaign.left == pytest.approx(10.0 - total + batch[1].price)
    rest = campaign.ask()
    assert campaign.left >= 0
    assert rest
    for _ in range(3):  # rounding may leave a cent or ten for a second list
        last = campaign.ask()
    assert last == []
    assert 0 <= campaign.left < 1.0  # less than the cheapest cell that is still missing, its fee included
    assert {p.group for p in batch + rest if p.column in ("dose", "age")} <= {"blood"}
    assert {p.group for p in batch + rest if p.column not in ("dose", "age")} <= {None}


@pytest.fixture
def campaign():
    return begin()


def test_a_late_answer_counts_and_costs():
    clock = Clock()
    campaign = begin(clock=clock)
    (purchase,) = campaign.ask(count=1, lease="1h")
    clock.advance(hours=2)
    assert campaign.reserved == 0
    assert campaign.open_purchases() == []
    campaign.tell(answers_to([purchase]))
    assert campaign.spent == purchase.price


def test_corrections_keep_the_old_value(campaign):
    old = float(campaign.original.values[0, 0])
    assert campaign.correct("p0", "dose", old + 1, reason="misread", who="Ann")
    assert not campaign.correct("p0", "dose", old + 1)
    event = campaign.history()[-1]
    assert (event["old"], event["new"], event["reason"], event["who"]) == (old, old + 1, "misread", "Ann")
    assert campaign.table.values[0, 0] == old + 1
    assert campaign.original.values[0, 0] == old
    with pytest.raises(DataError, match="has no value yet"):
        campaign.correct(*hole(campaign), 3.0)


def asked_and_told(terms, told, withdrawn=(), stated=None):
    """Return a state in which cells of a 2 x 5 table were asked for, and some answered."""
    values = np.vstack([np.full((2, 5), np.nan), np.ones(5)])
    table = Table.from_arrays(values, columns=[f"c{j}" for j in range(5)], row_ids=["r0", "r1", "known"])
    state = State(table)

    def add(content):
        state.apply(Event(state.number + 1, Clock()(), None, None, None, content))

    for number in (1, 2):
        mine = {cell: each for cell, each in terms.items() if each.number == number}
        cells = tuple(AskedCell(f"r{i}", f"c{j}", each.own, 1.0, "") for (i, j), each in mine.items())
        add(Asked(number, 0, None, cells, None, tuple(mine.values())))
    add(Cancelled(tuple(CellName(f"r{i}", f"c{j}") for i, j in withdrawn)))
    price = 0.0 if stated is None else stated
    add(
        Told(
            tuple(ToldCell(f"r{i}", f"c{j}", 0.5, price) for i, j in told),
            stated=stated is not None,
        )
    )
    return state


@settings(max_examples=50)
@given(asked(), st.data())
def test_answers_that_come_together_cost_what_they_would_one_by_one(terms, data):
    """Late ones too; those never asked for cost nothing, unless a price is stated."""
    all_cells = [(i, j) for i in range(2) for j in range(5)]
    told = data.draw(st.lists(st.sampled_from(all_cells), unique=True))
    withdrawn = data.draw(st.lists(st.sampled_from(sorted(terms)), unique=True))
    state = asked_and_told(terms, told, withdrawn)
    answered = {cell: terms[cell] for cell in told if cell in terms}
    out = {cell: each for cell, each in terms.items() if cell not in answered and cell not in withdrawn}
    assert state.money.spent == float(owed(answered))
    assert state.money.reserved() == float(owed({**answered, **out}) - owed(answered))
    at_a_price = asked_and_told(terms, told, withdrawn, stated=0.1)
    assert at_a_price.money.spent == float(len(told) * Fraction(1, 10))
    assert at_a_price.money.reserved() == float(owed(out))


def test_answers_with_equal_terms_are_paid_for_at_once(monkeypatch):
    """A million answers to one ask are paid for in a step for each price, not for each answer."""
    calls = Counter()
    for name in ("give_back", "spend", "pay", "release"):
        work = getattr(Spending, name)
        monkeypatch.setattr(
            Spending, name, lambda *args, name=name, work=work: (calls.update([name]), work(*args))[1]
        )
    cells = [(i, j) for i in range(2) for j in range(5)]
    state = asked_and_told({cell: Terms(0.5 + cell[0], number=1) for cell in cells}, cells)
    assert (state.money.spent, state.money.reserved()) == (10.0, 0.0)
    assert calls == {"give_back": 2, "spend": 2}
