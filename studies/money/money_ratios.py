"""How much money a strategy needs, as a ratio to random cells; see PROTOCOL.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from studies.money.kept_cases import Record
from studies.money.purchases import FULL, RANDOM

MARKS = (0.5, 0.8, 0.95)
"""Shares of the way from the start to full information."""
LEAST_WAY = 0.02
"""Tables where full information is less than this above the start are not counted."""
GRID = np.linspace(0.0, 1.0, 401)
BOOTSTRAPS = 1000
LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class PurchaseCase:
    """A table at one share known at the start, with one kind of prices.

    Attributes
    ----------
    table : str
    observed : float
    prices : str
    start, full : float
        Mean scores over seeds.
    curves : dict of (seeds, `GRID`) arrays
        The score by money, for each strategy.
    """

    table: str
    observed: float
    prices: str
    start: float
    full: float
    curves: dict[str, Float64Array]

    @property
    def counts(self) -> bool:
        """Whether there is enough to gain."""
        return self.full - self.start >= LEAST_WAY

    def money(self, strategy: str, mark: float, seeds: Sequence[int] | None = None) -> float:
        """Return the money, as a share of all, that first reaches a mark on the mean curve of some seeds."""
        curves = self.curves[strategy]
        mean = curves.mean(axis=0) if seeds is None else curves[list(seeds)].mean(axis=0)
        reached = np.flatnonzero(mean >= self.start + mark * (self.full - self.start) - 1e-12)
        return float(GRID[reached[0]]) if len(reached) else 1.0

    def ratio(self, strategy: str, mark: float, seeds: Sequence[int] | None = None) -> float:
        """Return the money that a strategy needs over what random cells need; at least one step of `GRID`."""
        least = float(GRID[1])
        of_random = max(self.money(RANDOM.name, mark, seeds), least)
        return max(self.money(strategy, mark, seeds), least) / of_random

    def interval(self, strategy: str, mark: float) -> tuple[float, float]:
        """Return the interval of the ratio by bootstrap over seeds."""
        rng, n = np.random.default_rng(0), len(self.curves[strategy])
        found = [self.ratio(strategy, mark, rng.integers(n, size=n).tolist()) for _ in range(200)]
        low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


@dataclass(frozen=True)
class GeometricMean:
    """A geometric mean of ratios over tables, with its interval."""

    value: float
    low: float
    high: float
    tables: int


def cases_of(records: Sequence[Record]) -> list[PurchaseCase]:
    """Return the cases of which every strategy has the same seeds, in the order of the records."""
    grouped: dict[tuple[str, float, str], list[Record]] = defaultdict(list)
    for record in records:
        grouped[record["table"], record["observed"], record["prices"]].append(record)
    return [_case(*key, found) for key, found in grouped.items()]


def _case(table: str, observed: float, prices: str, records: list[Record]) -> PurchaseCase:
    full = {r["seed"]: r["score"] for r in records if r["strategy"] == FULL}
    points: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for r in records:
        if r["strategy"] != FULL:
            points[r["strategy"], r["seed"]].append((r["share"], r["score"]))
    curves: dict[str, list[Float64Array]] = defaultdict(list)
    for (strategy, seed), found in sorted(points.items()):
        shares, scores = zip(*sorted([*found, (1.0, full[seed])]), strict=True)
        curves[strategy].append(np.interp(GRID, shares, scores))
    start = float(np.mean([curve[0] for curve in curves[RANDOM.name]]))
    return PurchaseCase(
        table,
        observed,
        prices,
        start,
        float(np.mean(list(full.values()))),
        {strategy: np.array(found) for strategy, found in curves.items()},
    )


def geometric_mean(cases: Sequence[PurchaseCase], strategy: str, mark: float) -> GeometricMean | None:
    """Return the mean ratio over the cases that count, by bootstrap over tables and seeds within them."""
    counted = [case for case in cases if case.counts and strategy in case.curves]
    if not counted:
        return None
    value = float(np.exp(np.mean([np.log(case.ratio(strategy, mark)) for case in counted])))
    rng, found = np.random.default_rng(0), []
    for _ in range(BOOTSTRAPS):
        logs = []
        for k in rng.integers(len(counted), size=len(counted)):
            n = len(counted[k].curves[strategy])
            logs.append(np.log(counted[k].ratio(strategy, mark, rng.integers(n, size=n).tolist())))
        found.append(np.exp(np.mean(logs)))
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return GeometricMean(value, float(low), float(high), len({case.table for case in counted}))
