"""What people do with a campaign, for tests with real processes: ask, look the value up, tell it."""

import itertools
from datetime import timedelta

import numpy as np

from cellworth import Campaign, Prices, Table
from cellworth.blocks import ThreadEngine

ROWS, COLUMNS = 125, 12
HOLES = 1000
FEW_ROWS, FEW_COLUMNS, FEW_HOLES = 60, 8, 400


def true_value(row, column):
    """Return the value of a cell, which anybody can look up."""
    i, j = int(row[1:]), int(column[1:])
    return round(float(np.sin(0.7 * i + j) + 0.05 * i), 6)


def found(url, n=ROWS, p=COLUMNS, holes=HOLES, folder=None, strategy="linear-impact"):
    """Begin a campaign with many holes and a quick strategy: people do much before they die.

    With a folder, the table is in row blocks there, of 25 rows each.
    """
    rows, columns = [f"r{i}" for i in range(n)], [f"c{j}" for j in range(p)]
    X = np.array([[true_value(row, column) for column in columns] for row in rows])
    y = X[:, 0] > np.median(X[:, 0])
    places = np.random.default_rng(0).permutation(n * p)[:holes]
    X.flat[places] = np.nan
    table = Table.from_arrays(X, y, columns=columns, row_ids=rows)
    if folder is not None:
        write_parquet(folder, table)
        table = Table.open(folder, target="outcome", row_id="id", engine=ThreadEngine(1, 25))
    how = {"prices": Prices.same(2.0), "budget": 10_000, "strategy": strategy}
    Campaign.create(table, store=url, **how).close()


def write_parquet(folder, table):
    """Write a table in two files."""
    import pyarrow
    from pyarrow import parquet

    frame = pyarrow.table(
        {
            "id": list(table.row_ids),
            **{column: table.values[:, j] for j, column in enumerate(table.column_names)},
            "outcome": np.asarray(table.y, dtype=int),
        }
    )
    folder.mkdir()
    for number, rows in enumerate((slice(0, 40), slice(40, None))):
        parquet.write_table(frame.take(np.arange(len(frame))[rows]), folder / f"{number}.parquet")


def buy_all(url, who, sender):
    """Ask and tell until there is nothing left to ask for; send each answer after it was acknowledged."""
    with Campaign.open(url) as campaign:
        while batch := campaign.ask(count=25, who=who, lease=None):
            for start in range(0, len(batch), 5):
                part = batch[start : start + 5]
                answers = [(p.row, p.column, true_value(p.row, p.column)) for p in part]
                campaign.tell(answers, who=who)
                sender.send(answers)
    sender.close()


def buy_until_killed(url, sender):
    """Ask, tell and complete for ever; send each answer after it was acknowledged."""
    with Campaign.open(url) as campaign:
        sender.send([])
        for turn in itertools.count():
            batch = campaign.ask(count=2, lease=timedelta(seconds=1))
            answers = [(p.row, p.column, true_value(p.row, p.column)) for p in batch]
            campaign.tell(answers)
            sender.send(answers)
            if turn % 4 == 3:
                campaign.fill()
