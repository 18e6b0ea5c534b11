"""Demo: what chosen cells bring that random cells do not, and a campaign that buys them.

The table is scikit-learn's diabetes data: 442 patients, ten measurements, and whether the disease got worse
within a year than in the median patient. The prices are made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression

from cellworth.arrays import Float64Array
from cellworth.campaign import Campaign
from cellworth.campaign.stores import Store
from cellworth.errors import MissingDependencyError
from cellworth.model.cross_validation import Estimate
from cellworth.prices import Group, Prices
from cellworth.simulation.simulator import Settings, full_information
from cellworth.simulation.simulator import play as play_strategy
from cellworth.strategy import Batch, Purchase, get
from cellworth.table import Table

NAMES = ("age", "sex", "bmi", "blood pressure", "cholesterol", "ldl", "hdl", "tch", "ltg", "glucose")
RANDOM, CHOSEN = "random-gaussian", "recommended"
ROUNDS = 4
BUDGET = 400.0  # per round
STARTS = 20  # over which the comparison is averaged
TRAIN = 0.7  # share of the patients in the table; the others are those that the model is tried on
DIGITS = 3  # of an AUC
LOST = 0.05  # share of the cells that cannot be provided


@dataclass(frozen=True)
class Demo:
    """A table with holes, and what its cells would really be.

    Attributes
    ----------
    full : Table
        Without holes.
    table : Table
        The same with holes.
    prices : Prices
    """

    full: Table
    table: Table
    prices: Prices


@dataclass(frozen=True)
class Comparison:
    """Chosen against random cells: AUC on new patients, averaged over starts.

    Attributes
    ----------
    money : (rounds + 1,) array
    random, chosen : (starts, rounds + 1) arrays
    full : float
        With every cell known.
    """

    money: Float64Array
    random: Float64Array
    chosen: Float64Array
    full: float

    def saving(self) -> str:
        """Say what random cells reach with all the money, and when chosen cells reach it."""
        end, chosen = self.random.mean(axis=0)[-1], self.chosen.mean(axis=0)
        reached = np.flatnonzero(chosen.round(DIGITS) >= end.round(DIGITS))  # as the lines show it
        if not len(reached):
            return "Here, random cells did as well: with so few starts, that happens."
        return (
            f"Random cells for {self.money[-1]:,.0f} bring the AUC to {end:.{DIGITS}f}; "
            f"chosen cells do so for {self.money[reached[0]]:,.0f}."
        )

    def lines(self) -> list[str]:
        """Return it as a table of text."""
        means = np.column_stack([self.random.mean(axis=0), self.chosen.mean(axis=0)])
        return [
            f"{'money spent':>12}{'random cells':>15}{'chosen cells':>15}",
            *(
                f"{money:>12,.0f}{random:>15.{DIGITS}f}{chosen:>15.{DIGITS}f}"
                for money, (random, chosen) in zip(self.money, means, strict=True)
            ),
            f"{'(all known)':>12}{self.full:>30.{DIGITS}f}",
        ]


def run_demo(hidden: float = 0.9, seed: int = 0) -> Demo:
    """Load the table and hide a share of its cells.

    Examples
    --------
    >>> demo = run_demo()
    >>> demo.table.shape
    (442, 10)
    """
    data: Any = load_diabetes(scaled=False)
    labels = np.where(data.target > np.median(data.target), "worse", "better")
    holes = np.random.default_rng(seed).random(data.data.shape) < hidden
    full, table = (
        Table.from_arrays(
            values,
            labels,
            columns=list(NAMES),
            row_ids=[f"patient {i + 1}" for i in range(len(labels))],
            target="progression",
        )
        for values in (data.data, np.where(holes, np.nan, data.data))
    )
    blood = Group("blood", NAMES[4:], first=12.0, then=4.0)
    own = {"age": 1.0, "sex": 1.0, "bmi": 3.0, "blood pressure": 3.0}
    return Demo(full, table, Prices.per_column(own, groups=[blood]))


def compare(
    demo: Demo, hidden: float = 0.9, *, rounds: int = ROUNDS, starts: int = STARTS, n_jobs: int = 1
) -> Comparison:
    """Let both strategies buy the same table back from the same starts; about half a second per start.

    Spread over ``n_jobs`` processes, -1 for all cores; the result is the same.
    """
    runs = Parallel(n_jobs=n_jobs)(delayed(_compare_start)(demo, hidden, rounds, k) for k in range(starts))
    random, chosen, full = (np.array(each) for each in zip(*runs, strict=True))
    return Comparison(BUDGET * np.arange(rounds + 1, dtype=np.float64), random, chosen, float(full.mean()))


def _compare_start(
    demo: Demo, hidden: float, rounds: int, seed: int
) -> tuple[list[float], list[float], float]:
    """Return the AUCs of random and of chosen cells from one start, and that with every cell known."""
    judge = LogisticRegression(max_iter=1000)
    settings = Settings(demo.prices, BUDGET, None, rounds, 1 - hidden, TRAIN, judge)
    random, chosen = (
        [each.record["auc"] for each in play_strategy(demo.full, get(name), seed, settings)]
        for name in (RANDOM, CHOSEN)
    )
    full = full_information(demo.full, classifier=judge, observed=1 - hidden, train=TRAIN, seed=seed)
    return random, chosen, full["auc"]


@dataclass(frozen=True)
class DemoRound:
    """The campaign after a round; round 0 is the start, without a batch."""

    round: int
    batch: Batch
    told: int  # cells so far
    refused: int  # cells so far
    spent: float

    def line(self, auc: Estimate) -> str:
        """Return it as a line below `HEADER`, with the score after it."""
        return (
            f"{self.round:>5}{self.spent:>14.0f}{self.told:>14,}{self.refused:>10}"
            f"{auc.value:>13.3f} ({auc.low:.3f} to {auc.high:.3f})"
        )


HEADER = f"{'round':>5}{'money spent':>14}{'cells bought':>14}{'refused':>10}{'AUC (95 % interval)':>29}"


def begin_campaign(demo: Demo, store: str | Path | Store, *, rounds: int = ROUNDS, seed: int = 0) -> Campaign:
    """Start a campaign on the demo's table, with a budget for ``rounds`` rounds."""
    return Campaign.create(
        demo.table, prices=demo.prices, budget=BUDGET * rounds, store=store, name="demo", seed=seed
    )


def play(campaign: Campaign, demo: Demo, *, rounds: int = ROUNDS, seed: int = 0) -> Iterator[DemoRound]:
    """Ask for cells and answer with the true values, round by round; refuse a few.

    Yields the start and each round, which takes two completions. `Campaign.status` has the scores.
    """
    rng = np.random.default_rng(seed)
    told = refused = 0
    yield DemoRound(0, Batch(), told, refused, campaign.spent)
    for number in range(1, rounds + 1):
        batch = campaign.ask(budget=BUDGET, who="Ann")
        is_lost = rng.random(len(batch)) < LOST
        lost = [purchase for purchase, gone in zip(batch, is_lost, strict=True) if gone]
        found = [purchase for purchase, gone in zip(batch, is_lost, strict=True) if not gone]
        told += campaign.tell([(p.row, p.column, _true_value(demo, p)) for p in found], who="laboratory")
        refused += campaign.refuse(lost, "the sample is lost", who="laboratory")
        yield DemoRound(number, batch, told, refused, campaign.spent)


def _true_value(demo: Demo, purchase: Purchase) -> float:
    place = demo.table.row_index(purchase.row), demo.table.column_index(purchase.column)
    return float(demo.full.values[place])


def draw(comparison: Comparison, path: Path) -> None:
    """Plot AUC against money, chosen beside random cells, to a PNG file.

    The band is the standard error of the gap: both ways have the same starts, so that what a start does to
    both is not in it.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            'drawing needs matplotlib; install it with: pip install "cellworth[plot]"'
        ) from None
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    ways = (comparison.chosen, "chosen by cellworth", "#0072B2"), (comparison.random, "at random", "#7F7F7F")
    for scores, label, colour in ways:
        axis.plot(comparison.money, scores.mean(axis=0), "o-", color=colour, label=label)
    gap, mean = comparison.chosen - comparison.random, comparison.chosen.mean(axis=0)
    error = gap.std(axis=0, ddof=1) / np.sqrt(len(gap))
    band: Any = {"color": "#0072B2", "alpha": 0.15, "linewidth": 0, "label": "standard error of the gap"}
    axis.fill_between(comparison.money, mean - error, mean + error, **band)
    axis.axhline(comparison.full, color="0.4", linestyle="--", linewidth=1, label="every cell known")
    axis.set(xlabel="money spent", ylabel="AUC on new patients", title="What the same money buys")
    figure.legend(loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
