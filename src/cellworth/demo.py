"""Demo: hide cells of a real table, fill them in, and buy some of them back in a campaign.

The table is scikit-learn's breast cancer data: 569 tumours, 30 measurements, malignant or benign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cellworth.arrays import Float64Array
from cellworth.campaign import Campaign
from cellworth.campaign.stores import Store
from cellworth.complete import GaussianCompleter, SupervisedCompleter, fill
from cellworth.errors import MissingDependencyError
from cellworth.model.cross_validation import Estimate
from cellworth.prices import Prices
from cellworth.strategy import Purchase
from cellworth.table import Table

LEVEL = 0.9  # of the intervals shown
ROUNDS = 6
BUDGET = 500.0  # per round
LOST = 0.05  # share of the cells that cannot be provided


@dataclass(frozen=True)
class Filling:
    """One way to fill the holes, and how well it does."""

    name: str
    error: float  # root mean squared error in the holes, in standard deviations of the column
    auc: float  # on complete new rows, of a classifier trained on the filled rows


@dataclass(frozen=True)
class Demo:
    """Everything the demo shows."""

    table: Table
    truth: Float64Array  # (n, p)
    filled: Float64Array  # (n, p): by the Gaussian completer
    lower: Float64Array  # (n, p): lower end of each cell's interval
    upper: Float64Array
    fillings: list[Filling]
    full_auc: float  # of a classifier trained on all the true values

    @property
    def covered(self) -> float:
        """Share of the hidden values inside their intervals."""
        inside = (self.truth >= self.lower) & (self.truth <= self.upper)
        return float(inside[self.table.holes].mean())


def run_demo(hidden: float = 0.7, seed: int = 0) -> Demo:
    """Hide a share of the cells of 70 % of the tumours, fill them in three ways, and score each way.

    Examples
    --------
    >>> demo = run_demo()
    >>> demo.fillings[-1].error < demo.fillings[0].error
    True
    """
    data: Any = load_breast_cancer()
    labels = np.array(data.target_names)[data.target]
    truth, X_test, y, y_test = train_test_split(data.data, labels, train_size=0.7, random_state=seed)
    holes = np.random.default_rng(seed).random(truth.shape) < hidden
    table = Table.from_arrays(
        np.where(holes, np.nan, truth), y, columns=[str(n) for n in data.feature_names], target="diagnosis"
    )
    means = SimpleImputer().fit_transform(table.values)
    supervised = fill(table, SupervisedCompleter(scale="standard")).table.values
    gaussian = fill(table, GaussianCompleter())
    lower, upper = gaussian.completer.predict_interval(LEVEL)

    def judge(name: str, filled: Float64Array) -> Filling:
        error = ((filled - truth) / truth.std(axis=0))[holes]
        return Filling(name, float(np.sqrt((error**2).mean())), _auc(filled, y, X_test, y_test))

    ways = {"column means": means, "trace norm + labels": supervised, "joint Gaussian": gaussian.table.values}
    fillings = [judge(name, filled) for name, filled in ways.items()]
    full_auc = _auc(truth, y, X_test, y_test)
    return Demo(table, truth, gaussian.table.values, lower, upper, fillings, full_auc)


def demo_prices(table: Table) -> Prices:
    """Return made-up prices: the mean over a tumour's cells is cheap; its error and worst value cost more."""
    price = {"mean": 1.0, "error": 2.0, "worst": 5.0}
    return Prices.per_column(
        {name: price[next(word for word in price if word in name)] for name in table.column_names}
    )


@dataclass(frozen=True)
class DemoRound:
    """The campaign after a round; round 0 is the start."""

    round: int
    told: int  # cells so far
    refused: int  # cells so far
    spent: float
    auc: Estimate  # cross-validated, on the table as filled after this round

    def __str__(self) -> str:
        return (
            f"{self.round:>5}{self.spent:>14.0f}{self.told:>14,}{self.refused:>10}"
            f"{self.auc.value:>13.3f} ({self.auc.low:.3f} to {self.auc.high:.3f})"
        )


HEADER = f"{'round':>5}{'money spent':>14}{'cells bought':>14}{'refused':>10}{'AUC (95 % interval)':>29}"


def begin_campaign(demo: Demo, store: str | Path | Store, *, rounds: int = ROUNDS, seed: int = 0) -> Campaign:
    """Start a campaign on the demo's table, with a budget for ``rounds`` rounds."""
    return Campaign.create(
        demo.table,
        prices=demo_prices(demo.table),
        budget=BUDGET * rounds,
        store=store,
        name="demo",
        seed=seed,
    )


def play(campaign: Campaign, demo: Demo, *, rounds: int = ROUNDS, seed: int = 0) -> Iterator[DemoRound]:
    """Ask for cells and answer with the true values, round by round; refuse a few.

    Yields the start and each round. A round takes two completions and a cross-validation.
    """
    rng = np.random.default_rng(seed)
    told = refused = 0
    yield DemoRound(0, told, refused, campaign.spent, _cross_validated(campaign))
    for number in range(1, rounds + 1):
        batch = campaign.ask(budget=BUDGET, who="Ann")
        is_lost = rng.random(len(batch)) < LOST
        lost = [purchase for purchase, gone in zip(batch, is_lost, strict=True) if gone]
        found = [purchase for purchase, gone in zip(batch, is_lost, strict=True) if not gone]
        told += campaign.tell([(p.row, p.column, _true_value(demo, p)) for p in found], who="laboratory")
        refused += campaign.refuse(lost, "the sample is lost", who="laboratory")
        yield DemoRound(number, told, refused, campaign.spent, _cross_validated(campaign))


def _true_value(demo: Demo, purchase: Purchase) -> float:
    place = demo.table.row_index(purchase.row), demo.table.column_index(purchase.column)
    return float(demo.truth[place])


def _cross_validated(campaign: Campaign) -> Estimate:
    """Return the current cross-validated AUC, as shown by ``cellworth status`` and the report."""
    score = campaign.status(max_rounds=1).score
    assert score is not None  # the table has labels
    return score


def _classifier() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=5000))


def _auc(X: Float64Array, y: Any, X_test: Float64Array, y_test: Any) -> float:
    classifier = _classifier().fit(X, y)
    return float(roc_auc_score(y_test == classifier.classes_[1], classifier.decision_function(X_test)))


def describe(demo: Demo) -> str:
    """Return the results in words."""
    n_holes = int(demo.table.holes.sum())
    lines = [
        str(demo.table),
        "",
        f"{'filled by':<22}{'error in the holes':>20}{'AUC on new tumours':>21}",
        *(f"{f.name:<22}{f.error:>17.2f} sd{f.auc:>21.3f}" for f in demo.fillings),
        f"{'(all values known)':<22}{'':>20}{demo.full_auc:>21.3f}",
        "",
        f"For {demo.covered:.0%} of the {n_holes:,} hidden values, the true one is inside the "
        f"{LEVEL:.0%} interval of the joint Gaussian.",
    ]
    return "\n".join(lines)


def draw(demo: Demo, path: Path) -> None:
    """Plot the table with its holes, filled against true values, and the errors, to a PNG file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            'drawing needs matplotlib; install it with: pip install "cellworth[plot]"'
        ) from None
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.15))
    holes, spread = demo.table.holes, demo.truth.std(axis=0)
    left.imshow(np.where(holes, 0.85, 0.25)[:60], cmap="gray", vmin=0, vmax=1, aspect="auto")
    left.set(title="What is known (dark), first 60 rows", xlabel="measurement", ylabel="tumour")
    standard = ((demo.truth - demo.truth.mean(axis=0)) / spread)[holes]
    guessed = ((demo.filled - demo.truth.mean(axis=0)) / spread)[holes]
    middle.plot([-3, 6], [-3, 6], color="0.6", linewidth=1)
    middle.plot(standard, guessed, ".", markersize=2, color="#0072B2", alpha=0.4)
    middle.set(
        title="Filled against true (joint Gaussian)",
        xlabel="true value (sd from mean)",
        ylabel="filled value",
        xlim=(-3, 6),
        ylim=(-3, 6),
    )
    names = [f.name for f in demo.fillings]
    bars = right.barh(names, [f.error for f in demo.fillings], color=["0.7", "#E69F00", "#0072B2"])
    right.bar_label(bars, [f"{f.error:.2f} sd" for f in demo.fillings], padding=4)
    right.set(title="Error in the holes", xlim=(0, 1.25 * max(f.error for f in demo.fillings)))
    right.invert_yaxis()
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
