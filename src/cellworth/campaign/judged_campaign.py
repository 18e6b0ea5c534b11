"""The part of a campaign that judges it: its model, its status, what more money would bring, when to stop."""

from __future__ import annotations

import warnings
from typing import Any

from cellworth.campaign.forecast import Forecast
from cellworth.campaign.log import Log
from cellworth.campaign.prospects import full_outlook, present, quick_outlook
from cellworth.campaign.status import Gain, Judging, Status, gain_since, past_forecast, status_of, totals_of
from cellworth.model import CompletingClassifier, CompletingRegressor, model_of
from cellworth.outlook import Outlook, StopAdvice, StopRule, StopWarning, decide
from cellworth.prices import Prices
from cellworth.progress import ProgressLine, Steps


class JudgedCampaign:
    """What `Campaign` says about itself; the last forecast made here is kept for `Campaign.ask`."""

    _log: Log
    prices: Prices
    budget: float | None
    _outlook: Outlook | None = None

    def model(self, **settings: Any) -> CompletingClassifier | CompletingRegressor:
        """Return a model of the target, chosen on and fitted to the table as it is now.

        ``settings`` are those of `CompletingClassifier` and `CompletingRegressor`, such as ``seconds=60``.
        The model takes rows with holes, as a `Table` or as in ``Table.encode().X``, and predicts labels as
        you write them. Its scores are ``at_hand_score_`` and ``complete_rows_score_``.
        """
        return model_of(self._log.newest().table(), **settings)

    def status(
        self,
        *,
        folds: int = 5,
        repeats: int | None = None,
        max_rounds: int = 12,
        ahead: float = 100.0,
        until: StopRule | None = None,
        seed: int = 0,
        progress: Steps | None = None,
    ) -> Status:
        """Report how the campaign, or a replay of it, is doing: money, cells, learning curve and forecast.

        ``folds`` and ``repeats`` are those of the cross-validation; by default it is repeated 10 times for up
        to 200 labelled rows, less often for more, and once from 2,000 on. The learning curve has at most
        ``max_rounds`` points, including the start and now; 1 means now only. The forecast of its own curve is
        for spending ``ahead`` more money. ``until`` is the rule that says whether to stop, by default
        ``StopRule()``; it is applied to a forecast from the known cells, which are hidden again, weighed with
        the campaign's own curve. The same campaign and ``seed`` give the same status. ``progress`` is called
        with the number of points scored and the total. Costs one completion per point, mostly warm, and
        ``folds * repeats`` small fits each: a few seconds for a few hundred rows; besides, nine completions
        and fits of at most 2,000 labelled rows for the forecast. With more than 20,000 labelled rows, a
        random 20,000 of them are scored.
        """
        judging = Judging(folds, repeats, max_rounds, ahead, seed, until or StopRule())
        totals = totals_of(self._log.newest(), self.budget, self._log.now())
        found = status_of(self._log, self.prices, totals, judging, progress)
        self._outlook = found.prospect
        return found

    def gain_since(self, number: int) -> Gain | None:
        """Return how much the score has risen since an event, on the same rows; None without a score."""
        return gain_since(self._log, number)

    def forecast(
        self,
        *,
        model: Any = "auto",
        seconds: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Outlook:
        """Forecast the score that more money would buy, as `cellworth.forecast` does, from the table now.

        The parameters are those of `cellworth.forecast`. Cells refused are not counted on. After four rounds
        with answers, the forecast is weighed with that of the campaign's own learning curve. The result is
        kept for the next `ask`. Costs a `cellworth.forecast` and a learning curve.
        """
        past = past_forecast(self._log, self.prices, Judging(seed=seed))
        line = ProgressLine("forecasting", 5) if progress else None
        found = full_outlook(
            self._log.newest(),
            self.prices,
            past,
            model=model,
            seconds=seconds,
            seed=seed,
            n_jobs=n_jobs,
            progress=None if line is None else lambda done, _: line.show(done),
        )
        self._outlook = found
        return found

    def advice(self, until: StopRule | None = None) -> StopAdvice | None:
        """Say whether the next money is worth it, by a rule; None if nothing can be forecast.

        Uses the last forecast that `status` or `forecast` made in this object, from where the campaign is
        now: O(n p). Without one, makes that of `status`: nine completions and small fits.
        """
        state = self._log.newest()
        if self._outlook is None:
            self._outlook = quick_outlook(state, self.prices, Forecast("too early"), seed=0)
        if self._outlook is None:
            return None
        return decide(self._outlook.moved(**vars(present(state, self.prices))), until)

    def _says_stop(self, until: StopRule | None) -> bool:
        """Warn if a rule says stop, and return whether an ask should obey.

        Without a rule the default one is applied, to a forecast already made, and only warns.
        """
        advice = None if until is None and self._outlook is None else self.advice(until)
        if advice is None or not advice.stop:
            return False
        hint = " Nothing was asked for." if until is not None else " The cells were asked for all the same."
        warnings.warn(advice.sentence + hint, StopWarning, stacklevel=3)
        return until is not None
