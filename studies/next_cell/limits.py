"""What limits the policy at a quarter of the money: python -m studies.next_cell.limits; see PROTOCOL.md.

For each table, shares of the full-information gain: of the policy; of one whose model and Gaussian learnt
from the training table without the holes of the study; of the cells of either, predicted by the other; and of
an order that knows the hidden values of the rows, which no policy can.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from studies.next_cell.row_policies import HALVES, HINDSIGHT_DRAWS, NewRows
from studies.next_cell.runs import score

SHARE = 0.25
COLUMNS = ("table", "policy", "learnt from the truth", "its model", "its cells", "knows the values")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=HALVES["tuning"])
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for table in said.tables:
        shares = " | ".join(f"{share:.2f}" for share in shares_of(NewRows.of(table, said.seed)))
        print(f"| {table} | {shares} |", flush=True)


def shares_of(rows: NewRows) -> list[float]:
    """Return the shares of the full-information gain, in the order of `COLUMNS`."""
    full = rows.without_holes()
    ours, theirs = (each.by_policy(SHARE, shared=True)[0] for each in (rows, full))
    return [
        gain_share(rows, ours),
        gain_share(full, theirs),
        gain_share(full, ours),
        gain_share(rows, theirs),
        gain_share(rows, known_by_values(rows, SHARE)),
    ]


def gain_share(rows: NewRows, known: BoolArray) -> float:
    """Return what known cells (m, p) bring, as a share of what all cells bring."""
    y = rows.test.target.values  # type: ignore[union-attr]
    start, end, now = (
        score(rows.predicted(each), y) for each in (np.zeros_like(known), ~rows.test.holes, known)
    )
    return (now - start) / (end - start)


def known_by_values(rows: NewRows, share: float) -> BoolArray:
    """Return the cells (m, p) that bring the predictions nearest to those with all cells, for their price.

    Greedily, one cell of any row at a time, with the hidden values at hand; within a share of the money of
    all rows together.
    """
    few = replace(rows, beliefs=rows.with_draws(HINDSIGHT_DRAWS))
    known, left = np.zeros(rows.test.shape, dtype=bool), share * float(rows.money.sum())
    every = np.arange(len(known))
    aim = rows.predicted(~rows.test.holes)
    error = ((few.predicted(known) - aim) ** 2).sum(axis=1)
    column, ratio, price = _best_cells(few, every, known, aim, error)
    while (ratio > 1e-9).any():
        row = int(ratio.argmax())
        if price[row] > left:
            ratio[row] = -np.inf
            continue
        known[row, column[row]], left = True, left - price[row]
        one = np.array([row])
        error[one] = ((few.only(one).predicted(known[one]) - aim[one]) ** 2).sum(axis=1)
        column[one], ratio[one], price[one] = _best_cells(few, one, known, aim, error)
    return known


def _best_cells(
    rows: NewRows, some: IntArray, known: BoolArray, aim: Float64Array, error: Float64Array
) -> tuple[IntArray, Float64Array, Float64Array]:
    """Return for some rows (k,) their best column, what it takes from the error per price, and its price."""
    prices = rows.prices.marginal(known)[some]
    ratios = np.full(prices.shape, -np.inf)
    for column in range(known.shape[1]):
        more = known[some].copy()
        more[:, column] = True
        after = ((rows.only(some).predicted(more) - aim[some]) ** 2).sum(axis=1)
        open_cells = ~known[some, column] & ~rows.test.holes[some, column]
        ratios[:, column] = np.where(open_cells, (error[some] - after) / prices[:, column], -np.inf)
    best = ratios.argmax(axis=1)
    every = np.arange(len(some))
    return best, ratios[every, best], prices[every, best]


if __name__ == "__main__":
    main()
