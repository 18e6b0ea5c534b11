"""Small campaigns for the tests: a table, a clock that is set by hand, stores that let others in."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import numpy as np

from cellworth import Group, Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.cell_events import Asked
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.strategy.choose_batch import Adviser

COLUMNS = ["dose", "age", "stage", "hue", "smokes", "visit"]
PRICES = Prices.per_column(
    {"stage": 2.5, "hue": 0.1, "smokes": 0.3, "visit": 1.0},
    groups=[Group("blood", ["dose", "age"], first=3.0, then=0.7, lasting=True)],
)


def make_table(n=30, seed=0, start=0):
    """Return a table with columns of all kinds, a third of its cells unknown."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    rows = [
        [
            round(float(20 + 5 * z[i]), 3),
            int(50 + 10 * z[i]),
            "I" if z[i] < -0.5 else "II" if z[i] < 0.5 else "III",
            ["red", "green", "blue"][int(rng.integers(3))],
            bool(z[i] > 0),
            f"2024-01-{1 + int(rng.integers(28)):02d}",
        ]
        for i in range(n)
    ]
    X = np.array(rows, dtype=object)
    hidden = rng.random(X.shape) < 0.33
    hidden[:3] = False
    X[hidden] = None
    X[:3, 2], X[:3, 3], X[:2, 4] = ["I", "II", "III"], ["red", "green", "blue"], [True, False]
    y = np.where(z + 0.5 * rng.normal(size=n) > 0, "ill", "well").astype(object)
    y[:2] = ["ill", "well"]
    return Table.from_arrays(
        X,
        y,
        columns=COLUMNS,
        row_ids=[f"p{start + i}" for i in range(n)],
        target="outcome",
        kinds={"stage": "ordered", "age": "integer", "dose": "number", "visit": "date", "smokes": "boolean"},
        categories={"stage": ["I", "II", "III"], "hue": ["blue", "green", "red"]},
        bounds={"age": (0, 120), "dose": (0, None)},
        units={"dose": "mg"},
        descriptions={"dose": "Of the first day"},
    )


class Clock:
    """Tells the time that it was set to."""

    def __init__(self):
        self.time = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.time

    def advance(self, **span):
        self.time += timedelta(**span)


def begin(table=None, *, store=None, clock=None, **keywords):
    """Begin a campaign in memory, by a strategy that grows no trees."""
    keywords = {"prices": PRICES, "budget": 50.0, "strategy": "linear-impact", **keywords}
    return Campaign.create(
        make_table() if table is None else table,
        store=MemoryStore() if store is None else store,
        clock=Clock() if clock is None else clock,
        **keywords,
    )


VALUES = {"dose": 21.5, "age": 47, "stage": "II", "hue": "green", "smokes": True, "visit": "2024-02-03"}


def hole(campaign, column="dose", which=0):
    """Return the row and column of a hole of the table that the campaign began with."""
    table = campaign.table
    rows = np.flatnonzero(table.holes[:, table.column_index(column)])
    return table.row_ids[rows[which]], column


def answers_to(batch):
    """Return an answer for each purchase."""
    return {(purchase.row, purchase.column): VALUES[purchase.column] for purchase in batch}


def cells(batch):
    return [(purchase.row, purchase.column, purchase.price) for purchase in batch]


def rounds_of(campaign):
    """Return, for each round that was asked in, the number of the event whose table it was completed on."""
    asked = [event.content for event in campaign.events() if isinstance(event.content, Asked)]
    based_on = {each.round: each.based_on for each in asked}
    assert sorted(based_on) == list(range(1, len(based_on) + 1))
    return [based_on[number] for number in sorted(based_on)]


def same_state(one, other):
    """Say whether two campaigns are in the same state, as far as anybody can see."""
    return (
        one.events() == other.events()
        and one.totals() == other.totals()
        and one.open_purchases() == other.open_purchases()
        and one.rows(most=10_000) == other.rows(most=10_000)
        and one.table.equals(other.table)
        and one.table_number == other.table_number
    )


@contextmanager
def counted_completions():
    """Count the completions that advisers run, of whatever campaign: one per round."""
    counted, complete = [], Adviser.complete

    def counting(self, X, *others):
        counted.append(len(X))
        return complete(self, X, *others)

    Adviser.complete = counting
    try:
        yield counted
    finally:
        Adviser.complete = complete


class Interrupted:
    """A store before each of whose next appends somebody else does something."""

    def __init__(self, store, *others):
        self.store = store
        self.others = list(others)

    def append(self, name, after, events):
        if self.others:
            self.others.pop(0)()
        self.store.append(name, after, events)

    def __getattr__(self, name):
        return getattr(self.store, name)


def played(rounds, strategy="stating"):
    """Return a store, and the campaign in it after some rounds."""
    store = MemoryStore()
    campaign = begin(store=store, strategy=strategy, budget=None)
    for _ in range(rounds):
        campaign.tell(answers_to(campaign.ask(count=3)))
    return store, campaign


def completions(ask):
    """Return the batch, and how many completions it took."""
    with counted_completions() as counted:
        batch = ask()
    return cells(batch), len(counted)


def check_next_ask(campaign, store, clock):
    """What the campaign would ask for is what one that is opened now would."""
    fresh = Campaign.open(store, clock=clock)
    assert same_state(fresh, campaign)
    expected = cells(fresh.replay(clock.time).ask(count=6))
    assert cells(campaign.ask(count=6)) == expected


def gaussian_table(n=120, *, kind="classes", hidden=0.5, seed=0):
    """Return a table with holes whose target is told by two of its columns, and its cells without holes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    z = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    y = z if kind == "number" else np.digitize(z, [-0.5, 0.5]) if kind == "several" else z > 0
    holes = rng.random(X.shape) < hidden
    return Table.from_arrays(np.where(holes, np.nan, X), None if kind == "none" else y), X


def play(table, truth, rounds, count=25, **keywords):
    """Buy the true values of some cells in each round."""
    campaign = begin(table, prices=Prices.same(2.0), budget=1000.0, **keywords)
    for _ in range(rounds):
        batch = campaign.ask(count=count)
        if not batch:
            break
        places = {p: (int(p.row), table.column_index(p.column)) for p in batch}
        campaign.tell({(p.row, p.column): truth[place] for p, place in places.items()})
    return campaign
