"""What a campaign says of itself: how it is doing, what more money would bring, and when to stop."""

from __future__ import annotations

import warnings
from typing import Any

from cellworth.campaign.forecast import Forecast
from cellworth.campaign.log import Log
from cellworth.campaign.prospects import full_outlook, present, quick_outlook
from cellworth.campaign.status import Judging, Status, past_forecast, status_of, totals_of
from cellworth.outlook import Outlook, StopAdvice, StopRule, StopWarning, decide
from cellworth.prices import Prices
from cellworth.progress import ProgressLine, Steps


class SelfAssessment:
    """The part of a campaign that assesses it; the last forecast is kept, for the next ask.

    Parameters
    ----------
    log : Log
    prices : Prices
    budget : float or None
    """

    def __init__(self, log: Log, prices: Prices, budget: float | None) -> None:
        self._log, self._prices, self._budget = log, prices, budget
        self._outlook: Outlook | None = None

    def status(self, judging: Judging, progress: Steps | None) -> Status:
        """Return the status; see `Campaign.status`."""
        totals = totals_of(self._log.newest(), self._prices, self._budget, self._log.now())
        found = status_of(self._log, self._prices, totals, judging, progress)
        self._outlook = found.prospect
        return found

    def forecast(
        self,
        *,
        model: Any = "auto",
        seconds: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Outlook:
        """Return the forecast of a model; see `Campaign.forecast`."""
        past = past_forecast(self._log, self._prices, Judging(seed=seed))
        line = ProgressLine("forecasting", 5) if progress else None
        found = full_outlook(
            self._log.newest(),
            self._prices,
            past,
            model=model,
            seconds=seconds,
            seed=seed,
            n_jobs=n_jobs,
            progress=None if line is None else lambda done, _: line.show(done),
        )
        self._outlook = found
        return found

    def advice(self, until: StopRule | None) -> StopAdvice | None:
        """Say whether the next money is worth it; see `Campaign.advice`."""
        state = self._log.newest()
        if self._outlook is None:
            self._outlook = quick_outlook(state, self._prices, Forecast("too early"), seed=0)
        if self._outlook is None:
            return None
        return decide(self._outlook.moved(**vars(present(state, self._prices))), until)

    def says_stop(self, until: StopRule | None) -> bool:
        """Warn if a rule says stop, and return whether an ask should obey.

        Without a rule the default one is applied, to a forecast already made, and only warns.
        """
        advice = None if until is None and self._outlook is None else self.advice(until)
        if advice is None or not advice.stop:
            return False
        hint = " Nothing was asked for." if until is not None else " The cells were asked for all the same."
        warnings.warn(advice.sentence + hint, StopWarning, stacklevel=3)
        return until is not None
