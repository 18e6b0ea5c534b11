"""Random prices and batches, and a bill written with dicts and loops alone."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from cellworth import Table
from cellworth.prices import Group, PriceList, Prices


@dataclass
class Case:
    """A small table with prices, the cells known before, and a batch in some order."""

    table: Table
    prices: Prices
    before: np.ndarray
    batch: list[tuple[int, int]]

    @property
    def price_list(self) -> PriceList:
        return self.prices.on(self.table)

    def cost(self, batch) -> float:
        return self.price_list.cost(batch, self.before)


def plain_table(n=3, p=4):
    """A table without holes: prices look at names and shapes alone."""
    return Table.from_arrays(
        np.arange(n * p, dtype=float).reshape(n, p),
        columns=[f"c{j}" for j in range(p)],
        row_ids=[f"r{i}" for i in range(n)],
    )


def bill_by_hand(case, batch):
    """Add up the bill row by row and group by group, from the statement alone."""
    own = case.prices.cells.prices
    names = case.table.column_names
    rows = {}
    for row, column in set(batch):
        rows.setdefault(row, []).append(names[column])
    total = 0.0
    for row, bought in rows.items():
        total += case.prices.visit
        known = [name for j, name in enumerate(names) if case.before[row, j]]
        for name in bought:
            if name in own:
                total += own[name]
        for group in case.prices.groups:
            first, then = (
                dict(zip(group.columns, prices, strict=True)) for prices in (group.first, group.then)
            )
            members = [name for name in bought if name in first]
            total += sum(then[name] for name in members)
            is_open = group.lasting and any(name in known for name in first)
            if members and not is_open:
                total += max(first[name] - then[name] for name in members)
    return total


money = st.integers(1, 10_000).map(lambda cents: cents / 100)


@st.composite
def cases(draw):
    n, p = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    columns = [f"c{j}" for j in range(p)]
    group_of = draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=p, max_size=p))
    groups = []
    for name in ("a", "b"):
        members = [column for column, group in zip(columns, group_of, strict=True) if group == name]
        if members:
            then = {column: draw(money) for column in members}
            first = {column: then[column] + draw(st.just(0.0) | money) for column in members}
            groups.append(Group(name, members, first=first, then=then, lasting=draw(st.booleans())))
    own = {column: draw(money) for column, group in zip(columns, group_of, strict=True) if group is None}
    prices = Prices.per_column(own, groups=groups, visit=draw(st.just(0.0) | money))
    cells = [(i, j) for i in range(n) for j in range(p)]
    before = np.array(draw(st.lists(st.booleans(), min_size=n * p, max_size=n * p))).reshape(n, p)
    batch = draw(st.lists(st.sampled_from(cells), unique=True))
    return Case(plain_table(n, p), prices, before, batch)
