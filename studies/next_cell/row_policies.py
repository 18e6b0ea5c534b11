"""Policies for new rows: each says which cells are known at given shares of a row's money."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.model import model_of
from cellworth.policy import Policy
from cellworth.policy.row_beliefs import RowBeliefs, outputs_of
from cellworth.prices import PriceList
from cellworth.simulation.hidden_truth import make_world
from cellworth.table import Table
from studies.money.development_tables import prices_of, table_of

HALVES = {
    "tuning": ("heart", "hepatitis", "pima", "saheart", "airfoil", "vehicle", "image"),
    "report": ("bupa", "thyroid", "mammographic", "car", "abalone", "winequality_white", "letter"),
}
SHARES = (0.1, 0.25)
TRAIN_ROWS, TEST_ROWS, OBSERVED, DRAWS = 500, 200, 0.5, 256
HINDSIGHT_DRAWS = 64
REPEATS = 3  # of each permutation
AT_ONCE = 100  # rows to predict


@dataclass(frozen=True, eq=False)
class NewRows:
    """Test rows, the model that predicts them, and what their cells cost."""

    train: Table
    truth: Table  # the training rows without the holes of the study
    test: Table
    others: Float64Array  # all rows of the table that are not test rows
    model: Any
    prices: PriceList  # of the test rows
    price_rule: Any
    beliefs: RowBeliefs

    @classmethod
    def of(cls, name: str, seed: int) -> NewRows:
        """Return the test rows of a table, and its model."""
        table = table_of(name)
        share = min(0.7, TRAIN_ROWS / table.shape[0])
        world = make_world(table, observed=OBSERVED, train=share, seed=seed)
        truth = _rows(table, world.rows, table.values[world.rows])
        train = _rows(table, world.rows, np.where(world.hidden, np.nan, truth.values))
        assert table.target is not None
        labelled = np.flatnonzero(~np.isnan(table.target.values))
        rest = np.setdiff1d(labelled, world.rows)
        chosen = np.random.default_rng([seed, 1]).permutation(rest)[:TEST_ROWS]
        test = _rows(table, chosen, table.values[chosen])
        model, rule = _model(train), prices_of(name, "unequal")
        others = np.delete(table.values, chosen, axis=0)
        return cls(train, truth, test, others, model, rule.on(test), rule, _beliefs(train, model, DRAWS))

    def without_holes(self) -> NewRows:
        """Return the same rows, with a model that learnt from the truth."""
        model = _model(self.truth)
        return replace(self, train=self.truth, model=model, beliefs=_beliefs(self.truth, model, DRAWS))

    def only(self, rows: IntArray) -> NewRows:
        """Return some of the test rows."""
        return replace(
            self, test=_rows(self.test, rows, self.test.values[rows]), prices=self.prices.of_rows(rows)
        )

    def with_draws(self, draws: int) -> RowBeliefs:
        """Return the beliefs by another number of draws."""
        return _beliefs(self.train, self.model, draws)

    @cached_property
    def money(self) -> Float64Array:
        """What all cells of each row cost, (m,)."""
        return self.costs(~self.test.holes)

    def costs(self, known: BoolArray) -> Float64Array:
        """Return what known cells (m, p) cost in each row, (m,)."""
        return np.array([self._cost(row, known[row]) for row in range(len(known))])

    def _cost(self, row: int, cells: BoolArray) -> float:
        nothing = np.zeros((1, len(cells)), dtype=bool)
        places = np.column_stack([np.zeros(int(cells.sum()), dtype=np.intp), np.flatnonzero(cells)])
        return self.prices.of_rows(np.array([row])).cost(places, nothing)

    def predicted(self, known: BoolArray) -> Float64Array:
        """Return the outputs (m, K) for the test rows of which some cells (m, p) are known."""
        X = self.beliefs.layout.encode(np.where(known, self.test.values, np.nan))
        return np.concatenate(
            [self.beliefs.outputs(X[k : k + AT_ONCE]).mean(axis=1) for k in range(0, len(X), AT_ONCE)]
        )

    def in_order(self, order: IntArray, share: float) -> BoolArray:
        """Return what is known (m, p) after buying in an order (p,), or (m, p), within a share of the money.

        Cells bought in turn open a lasting group once; a cell that does not fit is left out.
        """
        known, spent = np.zeros(self.test.shape, dtype=bool), np.zeros(len(self.money))
        every, orders = np.arange(len(known)), np.broadcast_to(order, (len(known), order.shape[-1]))
        for columns in orders.T:
            price = self.prices.marginal(known)[every, columns]
            buys = ~self.test.holes[every, columns] & (spent + price <= share * self.money + 1e-9)
            known[every[buys], columns[buys]] = True
            spent[buys] += price[buys]
        return known

    def by_policy(self, share: float, *, shared: bool) -> tuple[BoolArray, int, float]:
        """Return what `Policy` knows (m, p), the number of steps of all rows, and their processor time.

        It may spend a share of the money: of each row's own, or ``shared``, of the mean over rows.
        """
        most = share * (np.full(len(self.money), self.money.mean()) if shared else self.money)
        policy = Policy(
            self.train,
            self.model,
            prices=self.price_rule,
            draws=DRAWS,
            budget=None if shared else float(most.max()),
            mean_budget=float(most.max()) if shared else None,
        )
        spent, done, asked = np.zeros(len(most)), np.zeros(len(most), dtype=bool), 0
        known = np.zeros(self.test.shape, dtype=bool)
        begun = time.process_time()
        while not done.all():
            rows = np.flatnonzero(~done)
            asked += len(rows)
            some = _rows(self.test, rows, np.where(known[rows], self.test.values[rows], np.nan))
            # A row's own limit: what other rows could spend more counts as spent.
            used = {some.row_ids[k]: most.max() - most[row] + spent[row] for k, row in enumerate(rows)}
            # What the table itself lacks cannot be bought.
            names = np.array(self.test.column_names, dtype=object)
            lacking = {some.row_ids[k]: names[self.test.holes[row]].tolist() for k, row in enumerate(rows)}
            steps = policy.next_cells(some, spent=used, refused=lacking)
            for row, step in zip(rows, steps, strict=True):
                known[row, [self.test.column_index(name) for name in step.take]] = True
                spent[row] += step.price
                done[row] = step.stop
        return known, asked, time.process_time() - begun

    def spent_share(self, known: BoolArray) -> float:
        """Return the money that known cells (m, p) cost, as a share of that of all cells."""
        return float(self.costs(known).sum() / self.money.sum())


def _model(train: Table) -> Any:
    assert train.target is not None
    linear = "ridge regression" if train.target.label_kind == "number" else "logistic regression"
    return model_of(train, model=f"{linear} + extra trees", folds=2)


def _beliefs(train: Table, model: Any, draws: int) -> RowBeliefs:
    outputs, completer = outputs_of(model)
    X = train.encode(prior=True).X
    return RowBeliefs(train.layout, completer, outputs, X, draws=draws, seed=0)


def _rows(table: Table, rows: IntArray, values: Float64Array) -> Table:
    assert table.target is not None
    target = replace(table.target, values=table.target.values[rows])
    return Table(table.columns, values, [table.row_ids[row] for row in rows], target, table.row_id)
