"""A campaign against a plain model of it, through any sequence of what people do."""

import math
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError
from tests.campaign.campaigns import VALUES, Clock, begin, cells, make_table, same_state

picks = st.integers(0, 10**6)
OWN = {"dose": 0.7, "age": 0.7, "stage": 2.5, "hue": 0.1, "smokes": 0.3, "visit": 1.0}
BLOOD = 2.3  # what the first test costs more
pytestmark = pytest.mark.filterwarnings("ignore::cellworth.errors.OverspentWarning")  # late answers


def decimal_sum(amounts):
    """Return the exact sum of amounts as people write them, as a float."""
    return float(sum(Decimal(repr(float(amount))) for amount in amounts))


def seen(campaign):
    """Return what can be seen of a campaign now."""
    return campaign.number, campaign.rows(most=1000), campaign.spent, campaign.reserved


class Machine(RuleBasedStateMachine):
    """The model: dicts and sets of (row, column)."""

    @initialize(
        budget=st.sampled_from([None, 8.0, 30.0]), strategy=st.sampled_from(["recommended", "afasmc"])
    )
    def start(self, budget, strategy):
        self.clock, self.store = Clock(), MemoryStore()
        table = make_table(n=10, seed=3)
        self.campaign = begin(table, store=self.store, clock=self.clock, budget=budget, strategy=strategy)
        self.budget = budget
        self.values, self.holes = {}, set()
        self.out, self.price, self.refused = {}, {}, set()  # out: cell -> (price, until)
        self.held = {}  # cell -> (who, until)
        self.paid, self.log, self.snapshots, self.added = [], [], [self.snapshot()], 0
        self.own, self.drawn = {}, {}  # what a cell costs, and the blood drawn for it: cell -> fee, 0 if open
        self.blood = set()  # the rows whose blood is paid for
        self.take_in(table)

    def take_in(self, table):
        for i, row in enumerate(table.row_ids):
            for j, column in enumerate(table.columns):
                value = column.format(float(table.values[i, j]))
                if value is None:
                    self.holes.add((row, column.name))
                else:
                    self.values[row, column.name] = value

    def snapshot(self):
        return seen(self.campaign)

    def recorded(self, kind, who):
        self.log.append((kind, who, self.clock.time))
        self.snapshots.append(self.snapshot())

    def expire(self):
        self.out = {cell: (p, t) for cell, (p, t) in self.out.items() if t is None or t > self.clock.time}
        self.held = {cell: held for cell, held in self.held.items() if cell in self.out}

    def live(self):
        return {cell: p for cell, (p, t) in self.out.items() if t is None or t > self.clock.time}

    def holders(self):
        """Return who has which of the cells that are out now."""
        live = self.live()
        return {
            cell: (who, until)
            for cell, (who, until) in self.held.items()
            if cell in live and until > self.clock.time
        }

    @rule(money=st.sampled_from([3.0, 20.0]))
    def preview(self, money):
        """Look at what would be asked for, and go on with something else."""
        batch = self.campaign.preview(money)
        assert decimal_sum(p.price for p in batch) <= min(money, self.left())
        assert not {(p.row, p.column) for p in batch} & set(self.live())

    @rule(
        pick=picks,
        many=st.integers(1, 3),
        who=st.sampled_from(["Eve", "Flo"]),
        hours=st.sampled_from([1, 30]),
    )
    def take_by_name(self, pick, many, who, hours):
        asked = sorted(self.price)
        chosen = list({asked[(pick + k) % len(asked)] for k in range(many)}) if asked else []
        live, holders = self.live(), self.holders()
        taken_by_others = any(holders.get(cell, (who,))[0] != who for cell in chosen)
        if taken_by_others or not set(chosen) <= set(live):
            with pytest.raises(ConflictError):
                self.campaign.take(chosen, who=who, lease=timedelta(hours=hours))
            return
        taken = self.campaign.take(chosen, who=who, lease=timedelta(hours=hours))
        self.check_taken(taken, chosen, who, hours)

    @rule(many=st.integers(0, 3), who=st.sampled_from(["Eve", "Flo"]))
    def take_some(self, many, who):
        free = [cell for cell in self.live() if cell not in self.holders()]
        taken = self.campaign.take(many, who=who)
        self.check_taken(taken, free[:many], who, 8)

    def check_taken(self, taken, chosen, who, hours):
        until = self.clock.time + timedelta(hours=hours)
        assert {(p.row, p.column) for p in taken} == set(chosen)
        assert all((p.holder, p.held_until) == (who, until) for p in taken)
        if chosen:
            self.held.update(dict.fromkeys(chosen, (who, until)))
            self.recorded("taken", who)

    @rule(pick=picks, who=st.sampled_from(["Eve", "Flo"]))
    def give_back(self, pick, who):
        if not self.price:
            return
        cell = sorted(self.price)[pick % len(self.price)]
        # The hold itself counts here, even if the ask has run out meanwhile.
        holder, until = self.held.get(cell, (None, None))
        if holder is None or until <= self.clock.time:
            assert self.campaign.give_back([cell], who=who) == 0
        elif holder != who:
            with pytest.raises(ConflictError, match=holder):
                self.campaign.give_back([cell], who=who)
        else:
            assert self.campaign.give_back([cell], who=who) == 1
            del self.held[cell]
            self.recorded("given back", who)

    def reserved(self):
        """What is out costs, each row's blood once, unless it is paid for."""
        live = self.live()
        rows = {cell[0] for cell in live if self.drawn[cell]} - self.blood
        return decimal_sum([*(self.own[cell] for cell in live), *[BLOOD] * len(rows)])

    def left(self):
        if self.budget is None:
            return math.inf
        return decimal_sum([self.budget, -self.reserved(), *(-x for x in self.paid)])

    @rule(
        count=st.integers(1, 6),
        money=st.sampled_from([None, 2.0, 6.0]),
        hours=st.sampled_from([None, 1, 30]),
        look_first=st.booleans(),
    )
    def ask(self, count, money, hours, look_first):
        lease = None if hours is None else timedelta(hours=hours)
        left = self.left()
        # Another process that opens the campaign now would ask for the same.
        other = Campaign.open(self.store, clock=self.clock).replay(self.clock.time)
        expected = other.ask(money, count, lease=lease)
        if look_first:
            assert cells(self.campaign.preview(money, count)) == cells(expected)
            assert self.campaign.number == len(self.log)
        batch = self.campaign.ask(money, count, lease=lease, who="Ann")
        assert cells(batch) == cells(expected)
        assert len(batch) <= count
        if not batch:
            return
        self.expire()
        until = None if hours is None else self.clock.time + lease
        for purchase in batch:
            cell = purchase.row, purchase.column
            kept = any((cell[0], column) in self.values for column in ("dose", "age"))
            self.own[cell] = OWN[cell[1]]
            self.drawn[cell] = BLOOD if cell[1] in ("dose", "age") and not kept else 0
            assert cell in self.holes
            assert cell not in self.out
            assert cell not in self.refused
            assert purchase.until == until
            self.out[cell] = purchase.price, until
            self.price[cell] = purchase.price
        cost = decimal_sum(purchase.price for purchase in batch)
        assert cost <= min(left, math.inf if money is None else money)
        self.recorded("asked", "Ann")

    @rule(hours=st.sampled_from([1, 2, 40]))
    def wait(self, hours):
        self.clock.advance(hours=hours)

    @precondition(lambda self: self.holes & set(self.price))
    @rule(pick=picks, many=st.integers(1, 4))
    def tell(self, pick, many):
        """Answer cells that were ever asked for: out, expired, cancelled or refused."""
        asked = sorted(self.holes & set(self.price))
        chosen = {asked[(pick + k) % len(asked)] for k in range(many)}
        told = self.campaign.tell([(*cell, VALUES[cell[1]]) for cell in sorted(chosen)], who="Bob")
        assert told == len(chosen)
        for cell in chosen:
            self.put(cell, None)
        self.recorded("told", "Bob")

    @precondition(lambda self: self.holes)
    @rule(pick=picks, price=st.sampled_from([None, 0.5]))
    def tell_unsolicited(self, pick, price):
        cell = sorted(self.holes)[pick % len(self.holes)]
        self.campaign.tell({cell: VALUES[cell[1]]}, unsolicited=True, price=price)
        self.put(cell, price)
        self.recorded("told", None)

    def put(self, cell, price):
        self.holes.remove(cell)
        self.out.pop(cell, None)
        self.held.pop(cell, None)
        self.refused.discard(cell)
        if price is None:
            price = self.own.get(cell, 0.0)
            if self.drawn.get(cell) and cell[0] not in self.blood:
                price = decimal_sum([price, BLOOD])
                self.blood.add(cell[0])
        self.paid.append(price)
        self.values[cell] = VALUES[cell[1]]

    @precondition(lambda self: self.values)
    @rule(pick=picks)
    def tell_again(self, pick):
        cell = sorted(self.values)[pick % len(self.values)]
        assert self.campaign.tell({cell: self.values[cell]}) == 0

    @precondition(lambda self: self.holes)
    @rule(pick=picks)
    def refuse(self, pick):
        cell = sorted(self.holes)[pick % len(self.holes)]
        news = self.campaign.refuse([cell], "the sample is lost", who="Cy")
        assert news == (cell not in self.refused)
        if news:
            self.refused.add(cell)
            self.out.pop(cell, None)
            self.held.pop(cell, None)
            self.recorded("refused", "Cy")

    @precondition(lambda self: self.out)
    @rule(pick=picks)
    def cancel(self, pick):
        cell = sorted(self.out)[pick % len(self.out)]
        assert self.campaign.cancel([cell]) == 1
        del self.out[cell]
        self.held.pop(cell, None)
        self.recorded("cancelled", None)

    @rule(pick=picks, dose=st.floats(0, 100))
    def correct(self, pick, dose):
        known = sorted(cell for cell in self.values if cell[1] == "dose")
        cell = known[pick % len(known)]
        if self.campaign.correct(*cell, dose, reason="misread", who="Di"):
            assert self.values[cell] != dose
            self.values[cell] = dose
            self.recorded("corrected", "Di")
        else:
            assert self.values[cell] == dose

    @precondition(lambda self: self.added < 6)
    @rule(n=st.integers(4, 5), seed=st.integers(0, 9))
    def extend(self, n, seed):
        rows = make_table(n=n, seed=seed, start=100 + 10 * self.added)
        assert self.campaign.extend(rows) == n
        self.added += 1
        self.take_in(rows)
        self.recorded("extended", None)

    @rule()
    def reopen(self):
        again = Campaign.open(self.store, clock=self.clock)
        assert same_state(again, self.campaign)
        self.campaign = again

    @rule()
    def lose_the_cache(self):
        self.store.drop_cache("study")

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "campaign"):
            return
        campaign = self.campaign
        live = self.live()
        assert campaign.spent == decimal_sum(self.paid)
        assert campaign.reserved == self.reserved()
        assert campaign.left == (None if self.budget is None else self.left())
        assert {(p.row, p.column) for p in campaign.open_purchases()} == set(live)
        assert decimal_sum(p.price for p in campaign.open_purchases()) == campaign.reserved
        assert campaign.number == len(self.log)
        held = {(p.row, p.column): (p.holder, p.held_until) for p in campaign.open_purchases() if p.holder}
        assert held == self.holders()
        self.check_pages_and_totals(live)
        table = campaign.table
        for i, row in enumerate(table.row_ids):
            for j, column in enumerate(table.columns):
                value = column.format(float(table.values[i, j]))
                shown = self.values.get((row, column.name))
                assert (value.isoformat() if hasattr(value, "isoformat") else value) == (
                    shown.isoformat() if hasattr(shown, "isoformat") else shown
                )

    def check_pages_and_totals(self, live):
        """The queue in pages of two, all of it and in parts, and money and cells in one look."""
        campaign, whole = self.campaign, self.campaign.open_purchases()
        for keywords, expected in [
            ({}, whole),
            ({"column": "age"}, [p for p in whole if p.column == "age"]),
            ({"row": "p3"}, [p for p in whole if p.row == "p3"]),
            ({"holder": "Eve"}, [p for p in whole if p.holder == "Eve"]),
            ({"free": True}, [p for p in whole if p.holder is None]),
            ({"asked_by": "Ann", "column": "hue"}, [p for p in whole if p.column == "hue"]),
        ]:
            found, after = [], 0
            while after is not None:
                page = campaign.open_page(after, 2, **keywords)
                found, after = found + page.purchases, page.after
            assert found == expected
        totals = campaign.totals()
        assert (totals.spent, totals.reserved, totals.left) == (
            campaign.spent,
            campaign.reserved,
            campaign.left,
        )
        assert (totals.open, totals.missing, totals.number) == (len(live), len(self.holes), len(self.log))
        assert (totals.refused, totals.bought) == (len(self.refused), len(self.paid))
        assert totals.rows * totals.columns == totals.known + totals.bought + totals.missing

    def teardown(self):
        if not hasattr(self, "campaign"):
            return
        history = self.campaign.history()
        assert [(e["kind"], e["who"], e["time"]) for e in history] == self.log
        for number, snapshot in enumerate(self.snapshots):
            assert seen(self.campaign.replay(number)) == snapshot


Machine.TestCase.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
TestCampaign = Machine.TestCase
