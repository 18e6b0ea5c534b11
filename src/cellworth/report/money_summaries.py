"""What the money bought so far, how good the last batch was, and what the next one would buy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.campaign import Campaign, Gain, Status
from cellworth.campaign.campaign_events import Extended
from cellworth.campaign.cell_events import Asked, Corrected, Refused, Told
from cellworth.campaign.event_codec import Event
from cellworth.errors import ParameterError
from cellworth.model.cross_validation import Estimate
from cellworth.prices.money import add_up
from cellworth.report.summaries import Summary, SummaryInputs, inputs_of
from cellworth.select import Offer, Ratio

MOST_LISTED = 200
"""Most purchases listed in a preview."""
MOST_POINTS = 200
"""Most points on a curve of worth against money."""
GREEDY_REACH = 3.0
"""The greedy curve extends to this multiple of the batch's bill; beyond, it says nothing about the batch."""


@dataclass(frozen=True)
class ForecastCurve:
    """The forecast as a curve: arrays of equal length for money spent, score, and its 95 % interval."""

    money: Float64Array
    score: Float64Array
    low: Float64Array
    high: Float64Array


@dataclass(frozen=True)
class LastRound:
    """What the last answered round changed, from its first ask until now.

    Attributes
    ----------
    round : int
    since : int
        The number of the event before the round's first ask.
    cells, refused, corrected : int
        Cells told, refused and corrected since then.
    rows : int
        Rows added since then.
    money : float
        Spent since then.
    columns : list of (str, int)
        Told cells per column, largest count first.
    metric : str or None
    gain : Estimate or None
        Gain in score on the same rows, with its 95 % interval; None without a score.
    """

    round: int
    since: int
    cells: int
    money: float
    refused: int
    corrected: int
    rows: int
    columns: list[tuple[str, int]]
    metric: str | None
    gain: Estimate | None


@dataclass(frozen=True)
class OverviewSummary(Summary):
    """Money, the learning curve with its forecast, and what the last round changed.

    Attributes
    ----------
    status : Status
    projection : ForecastCurve or None
    outlook : str
        What more money is expected to gain, in a sentence.
    prospect, advice : str or None
        What more cells would bring, and whether it is worth spending more; None if nothing can be forecast.
    changed : LastRound or None
        None before the first answer.
    strategy, summary : str
        The name of the strategy, and what it does.
    """

    status: Status
    projection: ForecastCurve | None
    outlook: str
    prospect: str | None
    advice: str | None
    changed: LastRound | None
    strategy: str
    summary: str


def overview_summary(campaign: Campaign) -> OverviewSummary:
    """Summarise the state of a campaign.

    Costs a status, and two completions for the gain of the last round, cached until the table changes.
    """
    inputs = inputs_of(campaign)
    status = inputs.status
    return OverviewSummary(
        inputs.number,
        status,
        _projection(status),
        status.outlook() if status.score is not None else f"there is no score: {status.note}",
        None if status.prospect is None else status.prospect.describe(),
        None if status.advice is None else status.advice.sentence,
        _last_round(inputs),
        campaign.strategy,
        campaign.settled.summary,
    )


def _projection(status: Status) -> ForecastCurve | None:
    projection, score = status.forecast.projection, status.score
    if projection is None or score is None:
        return None
    return ForecastCurve(
        status.spent + projection.money,
        score.value + projection.gain,
        score.value + projection.low,
        np.minimum(score.value + projection.high, 1.0),
    )


def _last_round(inputs: SummaryInputs) -> LastRound | None:
    number, since = inputs.answered_round, inputs.answered_since
    if number is None:
        return None
    contents = [event.content for event in inputs.view.events(after=since)]
    told = [cell for each in contents if isinstance(each, Told) for cell in each.cells]
    gain = inputs.once("gain", (inputs.changed, since), lambda: _gain(inputs, since))
    return LastRound(
        round=number,
        since=since,
        cells=len(told),
        money=float(add_up([cell.price for cell in told])),
        refused=sum(len(each.cells) for each in contents if isinstance(each, Refused)),
        corrected=sum(isinstance(each, Corrected) for each in contents),
        rows=sum(len(each.rows) for each in contents if isinstance(each, Extended)),
        columns=sorted(Counter(cell.column for cell in told).items(), key=lambda item: (-item[1], item[0])),
        metric=None if gain is None else gain.metric,
        gain=None if gain is None else gain.gain,
    )


def _gain(inputs: SummaryInputs, since: int) -> Gain | None:
    return None if inputs.status.score is None else inputs.view.gain_since(since)


@dataclass(frozen=True)
class WorthCurve:
    """Worth against money: two increasing arrays of equal length."""

    money: Float64Array
    worth: Float64Array


@dataclass(frozen=True)
class BatchWorth:
    """A batch: its bill, the total worth of its cells, and their number."""

    money: float
    worth: float
    cells: int


@dataclass(frozen=True)
class FrontSummary(Summary):
    """The last batch against what its money could have bought, by the worths used to choose it.

    Worths are sums, in units of the average cell available at the time.

    Attributes
    ----------
    number : int or None
        Number of the last ask. This and the attributes below are None before the first ask.
    time : str or None
        Time of the last ask, as an ISO string.
    batch : BatchWorth or None
    greedy : WorthCurve or None
        Cells added greedily by worth per unit of money.
    search : WorthCurve or None
        The front found by a strategy that searches for one; None for other strategies.

    Notes
    -----
    A strategy that samples its batch, or looks at worth alone, falls below the greedy curve by design:
    similar cells are worth less together than the sum of their worths.
    """

    number: int | None = None
    time: str | None = None
    batch: BatchWorth | None = None
    greedy: WorthCurve | None = None
    search: WorthCurve | None = None


def front_summary(campaign: Campaign) -> FrontSummary:
    """Compare the last batch with what its money could have bought.

    Costs the rounds since the campaign's last cache, and two selections.
    """
    inputs = inputs_of(campaign)
    ask = inputs.last_ask
    if ask is None:
        return FrontSummary(inputs.number)
    if inputs.on_blocks:
        raise ParameterError(
            "what the money of a batch could have bought is found by choosing among all cells in memory, and "
            "this table is in row blocks. A preview says what a budget buys now."
        )
    batch, greedy, search = inputs.once("front", ask.number, lambda: _front(inputs, ask))
    return FrontSummary(inputs.number, ask.number, ask.time.isoformat(), batch, greedy, search)


def _front(inputs: SummaryInputs, ask: Event) -> tuple[BatchWorth, WorthCurve, WorthCurve | None]:
    assert isinstance(ask.content, Asked)
    asked = ask.content.cells
    then = inputs.view.replay(ask.number - 1)
    cells, table = then.cells(), then.table
    unit = float(cells.worth[cells.available].mean()) or 1.0
    rows = {row: place for place, row in enumerate(table.row_ids)}
    on_sale = then.prices.purchasable(table)
    columns = {name: place for place, name in enumerate(on_sale.column_names)}
    chosen = np.array([(rows[cell.row], columns[cell.column]) for cell in asked])
    money = float(add_up([cell.price for cell in asked]))
    offer = Offer(cells.worth / unit, cells.available, then.prices.on(table), ~on_sale.holes)
    rng = np.random.default_rng(0)
    greedy = Ratio().select(offer, budget=GREEDY_REACH * money, rng=rng)
    searched = then.settled.selector.select(offer, budget=money, rng=rng).front
    return (
        BatchWorth(money, float(offer.scores[tuple(chosen.T)].sum()), len(chosen)),
        _curve(np.cumsum(np.append(0.0, greedy.prices)), np.cumsum(np.append(0.0, greedy.scores))),
        None if searched is None else _curve(searched.costs, searched.scores),
    )


def _curve(money: Float64Array, worth: Float64Array) -> WorthCurve:
    """Return the curve thinned to `MOST_POINTS` points, keeping the first and the last."""
    kept = np.unique(np.linspace(0, len(money) - 1, MOST_POINTS).astype(np.intp))
    return WorthCurve(money[kept], worth[kept])


@dataclass(frozen=True)
class PreviewColumn:
    """What a preview would buy in one column."""

    name: str
    cells: int
    money: float


@dataclass(frozen=True)
class PreviewPurchase:
    """A cell that a preview would buy; see `cellworth.Purchase`."""

    row: str
    column: str
    price: float
    worth: float
    why: str | None


@dataclass(frozen=True)
class PreviewSummary(Summary):
    """What the next ask would buy.

    Attributes
    ----------
    cells : int
    money : float
        Their bill.
    rows : int
        Number of distinct rows.
    columns : list of PreviewColumn
        Highest bill first.
    purchases : list of PreviewPurchase
        The first `MOST_LISTED`.
    note : str or None
        Why there are no cells, if that is known.
    """

    cells: int
    money: float
    rows: int
    columns: list[PreviewColumn]
    purchases: list[PreviewPurchase]
    note: str | None = None


def preview_summary(
    campaign: Campaign, budget: float | None = None, count: int | None = None
) -> PreviewSummary:
    """Summarise what `Campaign.preview` would buy; records nothing. Costs as much as an ask."""
    number = campaign.number
    batch = campaign.preview(budget, count)
    prices: dict[str, list[float]] = {}
    for each in batch:
        prices.setdefault(each.column, []).append(each.price)
    columns = [PreviewColumn(name, len(paid), float(add_up(paid))) for name, paid in prices.items()]
    return PreviewSummary(
        number,
        len(batch),
        batch.cost,
        len({each.row for each in batch}),
        sorted(columns, key=lambda column: (-column.money, column.name)),
        [
            PreviewPurchase(each.row, each.column, each.price, each.worth, each.why)
            for each in batch[:MOST_LISTED]
        ],
        batch.note,
    )
