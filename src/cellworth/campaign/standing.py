"""Where a campaign stands: money, cells, how well the table predicts, and what more money would bring."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.course import Course, course_of
from cellworth.campaign.forecast import LEAST_MOMENTS, VISIBLE, Forecast, forecast
from cellworth.campaign.moments import snapshots
from cellworth.campaign.state import State, Status
from cellworth.campaign.tally import Tally
from cellworth.campaign.validation import Estimate
from cellworth.campaign.view import CampaignView
from cellworth.errors import ParameterError
from cellworth.prices import Prices
from cellworth.progress import Steps


@dataclass(frozen=True)
class Moment:
    """The score at a moment of the campaign.

    Attributes
    ----------
    number : int
        Of the event after which it was; 0 before the first.
    round : int
        Rounds asked by then.
    spent : float
        Money spent by then.
    bought : int
        Cells bought by then.
    score : Estimate
        AUC or R2.
    gain : Estimate
        How much higher it is than at the first moment, on the same rows: narrower than the difference of two
        scores seen apart.
    """

    number: int
    round: int
    spent: float
    bought: int
    score: Estimate
    gain: Estimate


@dataclass(frozen=True)
class Standing(Tally):
    """Where a campaign stands: its tally, and what follows. Intervals are at 95 %.

    Attributes
    ----------
    name : str
    metric : {"AUC", "R2"} or None
        None without a score; ``note`` says why.
    note : str
        How the score came about, or why there is none.
    history : tuple of Moment
        The last one is now; empty without a score.
    forecast : Forecast
    """

    name: str
    metric: Literal["AUC", "R2"] | None
    note: str
    history: tuple[Moment, ...]
    forecast: Forecast

    @property
    def score(self) -> Estimate | None:
        """The score now."""
        return self.history[-1].score if self.history else None

    @property
    def gain(self) -> Estimate | None:
        """How much the score has risen since the first moment; None without a second one."""
        return self.history[-1].gain if len(self.history) > 1 else None

    def describe(self) -> str:
        """Return all of it as lines of text."""
        of_budget = "no budget" if self.left is None else f"{self.left:.2f} left of {self.budget:.2f}"
        lines = [
            f"campaign {self.name!r} after {self.number} events",
            f"money  {self.spent:.2f} spent, {self.reserved:.2f} reserved, {of_budget}",
            f"cells  {self.known} known at the start, {self.bought} bought, {self.missing} still missing: of "
            f"these {self.refused} refused, {self.open} out",
        ]
        if self.score is None:
            return "\n".join([*lines, f"score  none: {self.note}"])
        lines.append(f"{self.metric:<6} {_in_words(self.score)}; {self.note}")
        if self.gain is not None:
            lines.append(f"gain   {_in_words(self.gain, sign='+')}, since {self._since()}")
            lines.append(f"       {'spent':>10} {'cells':>7} {self.metric:>7}  95 % interval")
            lines += [
                f"       {moment.spent:10.2f} {moment.bought:7d} {moment.score.value:7.3f}  "
                f"{moment.score.low:.3f} to {moment.score.high:.3f}"
                for moment in self.history
            ]
        return "\n".join([*lines, f"next   {self.outlook()}"])

    def outlook(self) -> str:
        """Say what more money is expected to bring, in one sentence."""
        expected = self.forecast
        if expected.gain is None:
            return {
                "too early": f"too early to tell: a forecast needs {LEAST_MOMENTS} rounds with answers that "
                f"cost something, there were {self._steps()}",
                "nothing left": "nothing is left to buy",
            }.get(expected.verdict, "without a score there is no forecast")
        so_much = f"the next {expected.money:.2f} are expected to bring"
        if expected.verdict == "expected":
            return f"{so_much} {_in_words(expected.gain, sign='+')}"
        most = f"{max(expected.gain.high, 0.001):.3f}"
        if self.gain is not None and self.gain.low <= 0:
            return f"no gain is visible so far; {so_much} less than {most}"
        if expected.gain.value < VISIBLE:
            return f"{so_much} less than {most}"
        return f"{so_much} about {expected.gain.value:.3f}, less than {most}, perhaps nothing"

    def _since(self) -> str:
        return f"event {self.history[0].number}" if self.history[0].number else "the start"

    def _steps(self) -> int:
        """Return how often money was spent between two moments."""
        return int((np.diff([moment.spent for moment in self.history]) > 0).sum())

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        data = asdict(self)
        data["history"] = list(data["history"])
        del data["forecast"]["projection"]
        return data


def standing_of(
    campaign: CampaignView,
    *,
    folds: int = 5,
    repeats: int | None = None,
    max_rounds: int = 12,
    ahead: float = 100.0,
    seed: int = 0,
    progress: Steps | None = None,
) -> Standing:
    """Say where a campaign, or a replay of it, stands.

    Parameters
    ----------
    campaign : Campaign or CampaignView
    folds : int, default=5
        Of the cross-validation.
    repeats : int, optional
        How often rows are dealt into folds anew. By default 10 times for 200 labelled rows, less often for
        more, once from 2,000 on.
    max_rounds : int, default=12
        Most moments of the history, the beginning and now included; 1 looks at now only.
    ahead : float, default=100
        The money that the forecast is for.
    seed : int, default=0
        Of folds and resampling. The same campaign and seed give the same standing, to the leases that have
        run out since.
    progress : callable, optional
        Is told how many of the moments are scored, and how many there are.

    Returns
    -------
    Standing

    Notes
    -----
    A completion for each moment, most of them warm, and ``folds * repeats`` small fits each: some seconds for
    a few hundred rows. Of tables with more than 20,000 rows, so many at random take part in the score. See
    `cellworth.campaign.validation` for the score, `cellworth.campaign.forecast` for the forecast.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Table
    >>> from cellworth.campaign import Campaign
    >>> from cellworth.campaign.standing import standing_of
    >>> from cellworth.campaign.stores.memory import MemoryStore
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> campaign = Campaign.create(Table.from_arrays(X), budget=50, store=MemoryStore())
    >>> print(standing_of(campaign).describe())
    campaign 'study' after 0 events
    money  0.00 spent, 0.00 reserved, 50.00 left of 50.00
    cells  216 known at the start, 0 bought, 84 still missing: of these 0 refused, 0 out
    score  none: the table has no target
    """
    _check(folds, repeats, max_rounds, ahead)
    now, state = campaign.tally(), campaign._log.state
    shots = snapshots(campaign.original, list(campaign._log.events()), max(2, max_rounds))
    course = course_of(
        shots[-1:] if max_rounds == 1 else shots, folds=folds, repeats=repeats, seed=seed, progress=progress
    )
    return Standing(
        **vars(now),
        name=campaign.name,
        metric=course.metric if course.scores else None,
        note=course.note,
        history=_history(course),
        forecast=_forecast(course, _still_costs(state, campaign.prices, ahead), seed),
    )


def _history(course: Course) -> tuple[Moment, ...]:
    return tuple(
        Moment(
            shot.number, shot.round, shot.spent, shot.bought, score.estimate(), score.gain(course.scores[0])
        )
        for shot, score in zip(course.shots, course.scores, strict=True)
    )


def _forecast(course: Course, most: float, seed: int) -> Forecast:
    if not course.scores:
        return Forecast("no score")
    return forecast(
        np.array([shot.spent for shot in course.shots]),
        np.array([score.value for score in course.scores]),
        np.column_stack([score.influence for score in course.scores]),
        most,
        np.random.default_rng(seed),
    )


def _still_costs(state: State, prices: Prices, limit: float) -> float:
    """Return what all cells cost that can still be had, but at most the limit; O(n p)."""
    wanted: NDArray[np.bool_] = (state.status == Status.HOLE) | (state.status == Status.ASKED)
    price_list = prices.on(state.table())
    if float(price_list.own[wanted].sum()) >= limit:
        return limit
    known = ~state.table().holes
    return min(limit, price_list.cost(np.argwhere(wanted), known)) if wanted.any() else 0.0


def _in_words(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.value:{sign}.3f} (95 % interval {estimate.low:{sign}.3f} to {estimate.high:{sign}.3f})"


def _check(folds: int, repeats: int | None, max_rounds: int, ahead: float) -> None:
    for name, number, least in (("folds", folds, 2), ("repeats", repeats, 1), ("max_rounds", max_rounds, 1)):
        if number is not None and number < least:
            raise ParameterError(f"{name} must be a whole number, {least} or more; got {number!r}.")
    if not 0 < ahead < float("inf"):
        raise ParameterError(f"ahead must be an amount of money above 0; got {ahead!r}.")
