"""Play strategies that buy cells, labels or both, at several prices of a label; see PROTOCOL.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cellworth import Prices, Table, simulate
from cellworth.arrays import Float64Array
from cellworth.complete import GaussianCompleter
from cellworth.score.scorer import Memoryless, Round
from cellworth.select import Ratio
from cellworth.simulation.hidden_truth import make_world
from cellworth.simulation.simulator import FinishedRuns, Settings
from cellworth.strategy import Strategy, get
from studies.money.development_tables import table_of
from studies.protocol import TRAIN_SHARE

TABLES = {
    "tuning": ("abalone", "image", "hepatitis", "airfoil", "saheart"),
    "report": ("chess", "heart", "pima", "mammographic", "vehicle"),
}
RATIOS = (0.1, 1.0, 10.0, 100.0)
SEEDS = range(10)
MOST_ROWS, MOST_TEST_ROWS = 400, 2000
OBSERVED, LABELLED = 0.3, 0.2
STEP, ROUNDS = 0.2, 4
JOINT, CELLS, LABELS, HALVES = "recommended", "cells-only", "labels-only", "random-halves"
NAMES = (JOINT, CELLS, LABELS, "label-uncertainty", "label-error-reduction", "random-gaussian", HALVES)


class RandomHalves(Memoryless):
    """Scores that, divided by prices, are random, with half of the money expected to go into labels."""

    def score(self, this_round: Round) -> Float64Array:
        """Return random scores (n, d + 1), scaled so that labels and cells cost the same in expectation."""
        assert this_round.prices is not None
        assert this_round.label_prices is not None
        money = np.column_stack(
            [this_round.prices * this_round.holes, this_round.label_prices * this_round.unlabelled]
        )
        # The earliest of exponential clocks are bought first, each slowed by what its kind costs in all.
        clocks = this_round.rng.exponential(size=money.shape)
        clocks[:, :-1] *= money[:, :-1].sum()
        clocks[:, -1] *= money[:, -1].sum()
        return np.divide(money, clocks, out=np.zeros_like(money), where=money > 0)

    def __repr__(self) -> str:
        return "RandomHalves()"


def strategies(names: Sequence[str] = NAMES) -> list[Strategy]:
    """Return the strategies of the study by name."""
    halves = Strategy(HALVES, GaussianCompleter(label_trust=0.0), RandomHalves(), Ratio(), "half of each")
    return [halves if name == HALVES else get(name) for name in names]


@dataclass(frozen=True)
class Case:
    """One table at one price of a label."""

    name: str
    ratio: float

    @property
    def table(self) -> Table:
        """The table, with at most as many rows as are used."""
        return _thinned(table_of(self.name))

    def budget(self, table: Table, seed: int) -> float:
        """Return the money of one purchase: `STEP` of the cheaper of all hidden labels and all cells."""
        world = make_world(table, observed=OBSERVED, train=_train(table), seed=seed, labelled=LABELLED)
        return STEP * min(self.ratio * world.hidden_labels.sum(), float(world.hidden.sum()))


def _train(table: Table) -> float:
    return min(TRAIN_SHARE, MOST_ROWS / table.shape[0])


def _thinned(table: Table) -> Table:
    """Return at most `MOST_ROWS` + `MOST_TEST_ROWS` rows of a table, drawn with seed 0."""
    n, most = table.shape[0], MOST_ROWS + MOST_TEST_ROWS
    if n <= most:
        return table
    rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    assert table.target is not None
    target = replace(table.target, values=table.target.values[rows])
    ids = [table.row_ids[i] for i in rows.tolist()]
    return Table(table.columns, table.values[rows], ids, target, table.row_id)


def _is_kept(
    case: Case, table: Table, prices: Prices, folder: Path | None, names: Sequence[str], seed: int
) -> bool:
    settings = Settings(
        prices, case.budget(table, seed), None, ROUNDS, OBSERVED, _train(table), None, LABELLED
    )
    finished = FinishedRuns(folder, table, settings)
    return all(finished.load(each, seed) is not None for each in strategies(names))


def play(
    cases: Sequence[Case],
    folder: Path | None,
    names: Sequence[str] = NAMES,
    seeds: Sequence[int] = SEEDS,
    *,
    only_kept: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield one record for each case, strategy and seed; finished runs are kept in the folder.

    With ``only_kept``, cases of which not all runs are there are left out.
    """
    for case in cases:
        table = case.table
        assert table.target is not None
        prices = Prices.per_column({table.target.name: case.ratio}, default=1.0)
        metric = "r2" if table.target.kind == "number" else "auc"
        for seed in seeds:
            if only_kept and not _is_kept(case, table, prices, folder, names, seed):
                continue
            curves = simulate(
                table,
                strategies(names),
                prices=prices,
                budget_per_round=case.budget(table, seed),
                rounds=ROUNDS,
                observed=OBSERVED,
                labelled=LABELLED,
                train=_train(table),
                seed=seed,
                resume=folder,
                frame="pandas",
            )
            for name, curve in curves.groupby("strategy", sort=False):
                start, after = curve[metric].iloc[0], curve[metric].iloc[1:]
                last = curve.iloc[-1]
                yield {
                    "table": case.name,
                    "ratio": case.ratio,
                    "seed": seed,
                    "strategy": name,
                    "start": float(start),
                    "score": float(after.mean()) if len(after) else float(start),
                    "cells": int(last["cells"]),
                    "labels": int(last["labels"]),
                    "money": float(last["money"]),
                    "model": str(last["model"]),
                }
