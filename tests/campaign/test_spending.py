"""What is owed follows from what was answered: exactly, in any order, and never above what was reserved."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Group, Prices, Table
from cellworth.campaign.spending import Spending, Terms
from cellworth.errors import OverspentWarning
from tests.campaign.campaigns import Clock, begin

NAN = float("nan")


def read(amount):
    """The decimal number that people see."""
    return Fraction(Decimal(repr(amount)))


def owed(answered):
    """Add up own prices, and each fee once: the largest among the answers that share it."""
    fees = {}
    for cell, terms in answered.items():
        if terms.visit:
            fees.setdefault((terms.number, cell[0]), []).append(read(terms.visit))
        if terms.fee:
            where = (0 if terms.lasting else terms.number, cell[0], terms.group)
            fees.setdefault(where, []).append(read(terms.fee))
    return sum((read(terms.own) for terms in answered.values()), Fraction()) + sum(map(max, fees.values()))


@st.composite
def asked(draw):
    """Return the terms of some cells, of two asks with two groups, one of them lasting."""
    amounts = st.sampled_from([0.1, 0.57, 0.47, 1 / 3, 100.0])
    visits = [draw(st.sampled_from([0.0, 0.7, 9.0])) for _ in range(2)]
    cells = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, unique=True))
    found = {}
    for cell in cells:
        number = draw(st.integers(1, 2))
        group = draw(st.sampled_from([None, "blood", "urine"]))
        fee = 0.0 if group is None else draw(st.sampled_from([0.0, 2.1, 2.5]))
        found[cell] = Terms(draw(amounts), visits[number - 1], fee, group, group == "blood", number)
    return found


@settings(max_examples=150)
@given(asked(), st.randoms(use_true_random=False), st.data())
def test_money_is_the_sum_of_what_was_answered_and_of_what_is_out(terms, shuffle, data):
    account, budget = Spending(), 10_000.0
    for cell, each in terms.items():
        account.ask(cell, each)
    out, answered = dict(terms), {}
    most = account.reserved()
    order = list(terms)
    shuffle.shuffle(order)
    for cell in order:
        account.release(cell, out.pop(cell))
        if data.draw(st.booleans()):  # else it is withdrawn
            (charged,) = account.charges([terms[cell]], [cell])
            assert charged == float(owed({**answered, cell: terms[cell]}) - owed(answered))
            account.pay(cell, terms[cell])
            answered[cell] = terms[cell]
        assert account.spent == float(owed(answered))
        assert account.reserved() == float(owed({**answered, **out}) - owed(answered))
        assert account.left(budget) == float(read(budget) - owed({**answered, **out}))
        assert account.spent + account.reserved() <= most + 1e-9
        assert 0 <= read(account.spendable(budget)) <= read(budget) - owed({**answered, **out})
        ended = data.draw(st.sets(st.sampled_from(sorted(out)))) if out else set()
        rest = {c: t for c, t in out.items() if c not in ended}
        gone = [(terms[c], c) for c in ended]
        assert account.reserved(gone) == float(owed({**answered, **rest}) - owed(answered))
        shown = sum(read(account.price_now(c, t, ended)) for c, t in rest.items())
        assert float(shown) == pytest.approx(account.reserved(gone), abs=1e-12)


def test_several_answers_at_once_are_charged_one_after_the_other():
    account, terms = Spending(), Terms(1.0, visit=10.0, number=1)
    cells = [(0, 0), (0, 1), (1, 0)]
    assert list(account.charges([terms] * len(cells), cells)) == [11.0, 1.0, 11.0]


def one_row(columns=3, rows=2, **prices):
    """Return a campaign whose last row has no value: all its cells are bought in one visit."""
    names = [f"c{j}" for j in range(columns)]
    values = [[float(i * j % 5) for j in range(columns)] for i in range(8)]
    values += [[NAN] * columns for _ in range(rows - 1)]
    table = Table.from_arrays(
        values,
        columns=names,
        row_ids=[f"r{i}" for i in range(len(values))],
        kinds=dict.fromkeys(names, "number"),
    )
    return begin(table, strategy="linear-impact", **prices)


def cells_of(campaign, **how):
    return [(p.row, p.column) for p in campaign.ask(**how)]


def test_a_visit_is_owed_even_if_its_first_cell_is_refused():
    campaign = one_row(prices=Prices.same(1.0, visit=100.0), budget=103.0)
    first, *others = cells_of(campaign)
    assert campaign.reserved == 103.0
    campaign.refuse([first], "lost")
    assert campaign.reserved == 102.0
    assert sorted(p.price for p in campaign.open_purchases()) == [1.0, 101.0]
    campaign.tell(dict.fromkeys(others, 2.0))
    assert (campaign.spent, campaign.reserved, campaign.left) == (102.0, 0.0, 1.0)
    assert sum(cell["price"] for cell in campaign.history()[-1]["cells"]) == 102.0


@pytest.mark.parametrize("lasting", [False, True])
def test_the_fee_of_a_group_is_owed_whoever_of_its_tests_comes(lasting):
    blood = Group("blood", ["c0", "c1", "c2"], first=7.25, then=5.0, lasting=lasting)
    campaign = one_row(prices=Prices.per_column({}, groups=[blood]), budget=17.25)
    first, *others = cells_of(campaign)
    campaign.cancel([first])
    for cell in others:
        campaign.tell({cell: 2.0})
    assert campaign.spent == 12.25


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_the_answers_does_not_matter(order):
    campaign = one_row(prices=Prices.same(1.0, visit=100.0), budget=None)
    asked = cells_of(campaign, count=3)
    for k in order:
        campaign.tell({asked[k]: 2.0})
    assert campaign.spent == 103.0


def test_a_late_answer_to_a_cell_that_was_asked_for_again_owes_the_visit():
    """Asked for at 10 and, as the second cell of another visit, at 1: somebody went there for it."""
    clock = Clock()
    campaign = one_row(prices=Prices.same(1.0, visit=9.0), budget=None, clock=clock)
    (late,) = campaign.ask(count=1, lease="1h")
    assert late.price == 10.0
    clock.advance(hours=2)
    again = {(p.row, p.column): p.price for p in campaign.ask(count=3)}
    campaign.tell({(late.row, late.column): 2.0})
    assert campaign.spent == 10.0
    assert sum(again.values()) == campaign.spent + campaign.reserved == 12.0


def test_a_late_answer_to_a_cancelled_cell_is_charged_what_it_adds():
    campaign = one_row(prices=Prices.same(1.0, visit=9.0), budget=12.0)
    one, two, three = cells_of(campaign)
    campaign.tell({one: 2.0})
    campaign.cancel([two, three])
    assert (campaign.spent, campaign.reserved) == (10.0, 0.0)
    campaign.tell({two: 2.0})
    assert (campaign.spent, campaign.left) == (11.0, 1.0)


def test_asks_share_the_fee_of_a_lasting_group():
    blood = Group("blood", ["c0", "c1", "c2"], first=7.0, then=5.0, lasting=True)
    campaign = one_row(prices=Prices.per_column({}, groups=[blood]), budget=100.0)
    for _ in range(2):
        campaign.ask(count=1)
    assert campaign.reserved == 12.0  # if both come, the blood is drawn once
    for purchase in campaign.open_purchases():
        campaign.tell({(purchase.row, purchase.column): 2.0})
    assert campaign.spent == 12.0


def test_a_stated_price_stands_and_shares_nothing():
    campaign = one_row(prices=Prices.same(1.0, visit=9.0), budget=100.0)
    one, two, three = cells_of(campaign)
    campaign.tell({one: 2.0}, price=0.25)
    assert (campaign.spent, campaign.reserved) == (0.25, 11.0)
    campaign.tell({two: 2.0, three: 2.0})
    assert campaign.spent == 11.25


def test_the_budget_holds_whatever_is_withdrawn():
    campaign = one_row(rows=6, prices=Prices.same(1.0, visit=3.0), budget=14.0)
    for k in range(4):
        asked = cells_of(campaign)
        campaign.refuse(asked[:1], "lost")
        campaign.tell({cell: float(k) for cell in asked[1:3]})
        campaign.cancel(asked[3:])
        assert campaign.spent + campaign.reserved <= 14.0
        assert campaign.left >= 0


def test_money_beyond_the_budget_is_announced():
    campaign = one_row(prices=Prices.same(1.0), budget=2.0)
    campaign.tell({("r8", "c0"): 1.0}, unsolicited=True, price=1.5)
    with pytest.warns(OverspentWarning, match=r"1\.00 over the budget of 2\.00"):
        campaign.tell({("r8", "c1"): 1.0}, unsolicited=True, price=1.5)
    assert campaign.left == -1.0
    assert campaign.tell({("r8", "c2"): 1.0}, unsolicited=True) == 1  # costs nothing: nothing to say
