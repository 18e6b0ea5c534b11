"""The status of a campaign: money, cells, how well the table predicts, and what more money would bring."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.campaign_outlook import outlook_ahead
from cellworth.campaign.assessment.learning_curve import (
    MOST_ROUNDS,
    LearningCurve,
    Snapshot,
    learning_curve,
    snapshot,
    snapshots_of,
)
from cellworth.campaign.assessment.scoring_model import model_in_use
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.current_cells import counts_labels, still_costs
from cellworth.campaign.log import Log
from cellworth.campaign.settings import choice_of
from cellworth.campaign.state import State
from cellworth.errors import DataError, ParameterError
from cellworth.forecasting import Outlook, StopAdvice, StopRule, decide
from cellworth.forecasting.curve_by_money import LEAST_SCORES, VISIBLE, Forecast, forecast
from cellworth.messages import count
from cellworth.model.cross_validation import Estimate
from cellworth.prices import Prices
from cellworth.prices.currency import money_text
from cellworth.progress import Steps, portion
from cellworth.shown_numbers import shown
from cellworth.strategy.auto_choice import StrategyChoice
from cellworth.table.target import Metric


@dataclass(frozen=True)
class Totals:
    """Totals of money, in the currency of the prices, and of cells.

    Attributes
    ----------
    number : int
        The number of the last event.
    rows, columns : int
    currency : str or None
        Its code, if the prices have one.
    budget, left : float or None
        None without a budget.
    spent, reserved : float
    known : int
        Cells known without buying.
    bought, refused, open : int
        Cells told, refused, and out now.
    missing : int
        Cells without a value, including those refused or out.
    """

    number: int
    rows: int
    columns: int
    currency: str | None
    budget: float | None
    spent: float
    reserved: float
    left: float | None
    known: int
    bought: int
    refused: int
    open: int
    missing: int

    def text(self, amount: float) -> str:
        """Return an amount of money as people write it."""
        return money_text(amount, self.currency)


@dataclass(frozen=True)
class CurvePoint:
    """The score after one of a campaign's events.

    Attributes
    ----------
    number : int
        The event's number; 0 before the first.
    round : int
        Rounds asked by then.
    spent : float
        Money spent by then.
    bought : int
        Cells bought by then.
    score : Estimate
        AUC or R2.
    gain : Estimate
        How much the score has risen since the first point, on the same rows; its interval is narrower than
        that of the difference between two separate scores.
    """

    number: int
    round: int
    spent: float
    bought: int
    score: Estimate
    gain: Estimate


@dataclass(frozen=True)
class Status(Totals):
    """The status of a campaign: its totals and the attributes below. Intervals are 95 %.

    Attributes
    ----------
    name : str
    metric : {"AUC", "R2"} or None
        None without a score; ``note`` says why.
    note : str
        How the score was computed, or why there is none.
    history : tuple of CurvePoint
        The last point is now; empty without a score.
    forecast : Forecast
        What more money is expected to bring, by the campaign's own curve.
    prospect : Outlook or None
        The forecast from the known cells, weighed with what the campaign's purchases have brought: of the
        score on complete rows, with 90 % intervals. None if nothing can be forecast.
    advice : StopAdvice or None
        Whether it is worth spending more.
    choice : StrategyChoice or None
        What the strategy chose on the table at the start; None if it left nothing open.
    """

    name: str
    metric: Metric | None
    note: str
    history: tuple[CurvePoint, ...]
    forecast: Forecast
    prospect: Outlook | None = field(default=None, repr=False, compare=False)
    advice: StopAdvice | None = None
    choice: StrategyChoice | None = None

    @property
    def score(self) -> Estimate | None:
        """The current score."""
        return self.history[-1].score if self.history else None

    @property
    def gain(self) -> Estimate | None:
        """How much the score has risen since the first point; None if there is only one."""
        return self.history[-1].gain if len(self.history) > 1 else None

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Return the status as lines of text."""
        of_budget = "no budget"
        if self.left is not None and self.budget is not None:
            of_budget = f"{self.text(self.left)} left of {self.text(self.budget)}"
        lines = [
            f"campaign {self.name!r} after {count(self.number, 'event')}",
            f"money  {self.text(self.spent)} spent, {self.text(self.reserved)} reserved, {of_budget}",
            f"cells  {self.known} known at the start, {self.bought} bought, {self.missing} still missing: of "
            f"these {self.refused} refused, {self.open} out",
        ]
        if self.choice is not None:
            lines.append(f"choice {self.choice.sentence}")
        if self.score is None:
            return "\n".join([*lines, f"score  none: {self.note}"])
        lines.append(f"{self.metric:<6} {_in_words(self.score)}; {self.note}")
        if self.gain is not None:
            first = self.history[0].number
            since = f"event {first}" if first else "the start"
            lines.append(f"gain   {_in_words(self.gain, sign='+')}, since {since}")
            lines.append(f"       {'spent':>10} {'cells':>7} {self.metric:>7}  95 % interval")
            lines += [
                f"       {shown(point.spent, '10.2f')} {point.bought:7d} {shown(point.score.value, '7.3f')}  "
                f"{shown(point.score.low, '.3f')} to {shown(point.score.high, '.3f')}"
                for point in self.history
            ]
        ahead = self.prospect is not None and self.advice is not None
        if not (ahead and self.forecast.verdict == "too early"):  # the one from the cells at hand is there
            lines.append(f"next   {self.outlook()}")
        if self.prospect is not None and self.advice is not None:
            lines += [f"ahead  {self.prospect.describe()}", f"       {self.advice.sentence}"]
        return "\n".join(lines)

    def outlook(self) -> str:
        """Describe in one sentence what more money is expected to bring."""
        expected = self.forecast
        if expected.gain is None:
            paid = int((np.diff([point.spent for point in self.history]) > 0).sum())
            return {
                "too early": f"too early to tell: a forecast needs {LEAST_SCORES} rounds with answers that "
                f"cost money; so far there were {paid}",
                "nothing left": "nothing is left to buy",
            }.get(expected.verdict, "no forecast without a score")
        so_much = f"the next {self.text(expected.money or 0.0)} is expected to bring"
        if expected.verdict == "expected":
            return f"{so_much} {_in_words(expected.gain, sign='+')}"
        most = shown(max(expected.gain.high, 0.001), ".3f")
        if self.gain is not None and self.gain.low <= 0:
            return f"no gain is visible so far; {so_much} less than {most}"
        if expected.gain.value < VISIBLE:
            return f"{so_much} less than {most}"
        return f"{so_much} about {shown(expected.gain.value, '.3f')}, less than {most}, perhaps nothing"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        plain |= {
            "history": [asdict(point) for point in self.history],
            "forecast": asdict(self.forecast),
            "prospect": None if self.prospect is None else self.prospect.to_json(),
            "advice": None if self.advice is None else self.advice.to_json(),
            "choice": None if self.choice is None else self.choice.to_json(),
        }
        del plain["forecast"]["projection"]
        return plain


def totals_of(state: State, prices: Prices, budget: float | None, time: datetime) -> Totals:
    """Return the totals of a state at a given time."""
    ended, labels, s = state.ended(time), counts_labels(state, prices), CellStatus
    known, bought, refused, holes, asked = (
        state.count(status) + labels * state.count(status, labels=True)
        for status in (s.KNOWN, s.TOLD, s.REFUSED, s.HOLE, s.ASKED)
    )
    return Totals(
        number=state.number,
        rows=state.index.n_rows,
        columns=state.index.features,
        currency=prices.currency,
        budget=budget,
        spent=state.money.spent,
        reserved=state.money.reserved(ended),
        left=None if budget is None else state.money.left(budget, ended),
        known=known,
        bought=bought,
        refused=refused,
        open=len(state.open.asked) - len(ended),
        missing=holes + asked + refused,
    )


@dataclass(frozen=True)
class Judging:
    """How to evaluate a campaign.

    The same settings give the same status, in every process. Each point of the curve costs one completion and
    ``folds * repeats`` fits of the model, to at most 2,000 labelled rows, and is then cached by its event: a
    second or two for a few hundred rows. Choosing a model costs six fits, once and each time half as many
    cells again are known; the forecast costs nine completions and fits, and twelve more after purchases.

    Attributes
    ----------
    folds : int
        Of the cross-validation.
    repeats : int or None
        How often it is repeated; by default twice for up to 100 labelled rows, and once for more.
    max_rounds : int
        The most points of the learning curve, including the start and now; 1 means now only.
    ahead : float or None
        How much more money the forecast of the campaign's own curve is for; by default, what a round has cost
        on average.
    seed : int
    model : str
        The name of a candidate of `cellworth.CompletingClassifier`, or "auto": linear, extra trees, or the
        average of both, by cross-validation.
    until : StopRule
        Applied to a forecast from the known cells, hidden again, and from what purchases have brought.
    """

    folds: int = 5
    repeats: int | None = None
    max_rounds: int = MOST_ROUNDS
    ahead: float | None = None
    seed: int = 0
    model: str = "auto"
    until: StopRule = field(default_factory=StopRule)

    def __post_init__(self) -> None:
        least = (("folds", self.folds, 2), ("repeats", self.repeats, 1), ("max_rounds", self.max_rounds, 1))
        for name, number, at_least in least:
            if number is not None and number < at_least:
                raise ParameterError(f"{name} must be a whole number, {at_least} or more; got {number!r}.")
        if self.ahead is not None and not 0 < self.ahead < float("inf"):
            raise ParameterError(f"ahead must be an amount of money above 0; got {self.ahead!r}.")


def status_of(
    log: Log,
    prices: Prices,
    totals: Totals,
    judging: Judging,
    cache: AssessmentCache,
    progress: Steps | None = None,
) -> Status:
    """Return the status of a campaign as of the end of its log."""
    with portion(0.0, 0.6):
        curve = _curve(log, judging, cache, progress)
    prices = log.prices_of(prices)
    past = _forecast(curve, still_costs(log.state, prices, _ahead(curve, judging)), judging.seed)
    prospect = None
    if curve.scores:
        model = model_in_use(log, judging.model, judging.seed, cache)
        # Without a forecast: nothing is left to buy, or next to no cell is known.
        with portion(0.6, 1.0), suppress(DataError):
            prospect = outlook_ahead(
                log.state, prices, partial(snapshots_of, log), model, seed=judging.seed, cache=cache
            )
    return Status(
        **vars(totals),
        name=log.name,
        metric=curve.metric if curve.scores else None,
        note=curve.note + log.sample_words,
        history=_history(curve),
        forecast=past,
        prospect=prospect,
        advice=None if prospect is None else decide(prospect, judging.until, left=totals.left),
        choice=choice_of(log.settings),
    )


def _ahead(curve: LearningCurve, judging: Judging) -> float:
    """Return how much money to forecast for; any amount will do if nothing was spent."""
    if judging.ahead is not None:
        return judging.ahead
    if not curve.snapshots:
        return 1.0
    now = curve.snapshots[-1]
    return now.spent / max(1, now.round) or 1.0


def _curve(log: Log, judging: Judging, cache: AssessmentCache, progress: Steps | None) -> LearningCurve:
    snapshots = snapshots_of(log, judging.max_rounds)
    if judging.max_rounds == 1:
        snapshots = snapshots[-1:]
    return _scored(snapshots, log, judging, cache, progress)


def _scored(
    snapshots: list[Snapshot], log: Log, judging: Judging, cache: AssessmentCache, progress: Steps | None
) -> LearningCurve:
    with portion(0.0, 0.5):
        model = model_in_use(log, judging.model, judging.seed, cache)
    with portion(0.5, 1.0):
        return learning_curve(
            snapshots,
            model,
            folds=judging.folds,
            repeats=judging.repeats,
            seed=judging.seed,
            cache=cache,
            progress=progress,
        )


class Gain(NamedTuple):
    """How much a score has risen."""

    metric: Metric
    gain: Estimate


def gain_since(log: Log, number: int, cache: AssessmentCache) -> Gain | None:
    """Return how much the score has risen since an event; None without a score."""
    then = log.state_at(number)
    curve = _scored([snapshot(then), snapshot(log.newest())], log, Judging(), cache, None)
    if len(curve.scores) < 2:
        return None
    return Gain(curve.metric, curve.scores[-1].gain(curve.scores[0]))


def _history(curve: LearningCurve) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(
            shot.number, shot.round, shot.spent, shot.bought, score.estimate(), score.gain(curve.scores[0])
        )
        for shot, score in zip(curve.snapshots, curve.scores, strict=True)
    )


def _forecast(curve: LearningCurve, most: float, seed: int) -> Forecast:
    if not curve.scores:
        return Forecast("no score")
    return forecast(
        np.array([shot.spent for shot in curve.snapshots]),
        np.array([score.value for score in curve.scores]),
        np.column_stack([score.influence for score in curve.scores]),
        most,
        np.random.default_rng(seed),
    )


def _in_words(estimate: Estimate, sign: str = "") -> str:
    return "{} (95 % interval {} to {})".format(*(shown(each, f"{sign}.3f") for each in astuple(estimate)))
