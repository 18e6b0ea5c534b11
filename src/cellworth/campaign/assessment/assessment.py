"""What a campaign says of itself: how it is doing, what more money would bring, and when to stop."""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from functools import partial
from typing import Any

from cellworth.cached_property import cached_property
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.campaign_outlook import outlook_ahead, present
from cellworth.campaign.assessment.learning_curve import snapshots_of
from cellworth.campaign.assessment.scoring_model import model_in_use
from cellworth.campaign.assessment.status import (
    Gain,
    Judging,
    Status,
    gain_since,
    status_of,
    totals_of,
)
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cache import ASSESSMENT, load_part, save_part
from cellworth.campaign.log import Log
from cellworth.errors import CellworthError, DataError
from cellworth.forecasting import Outlook, StopAdvice, StopRule, StopWarning, decide
from cellworth.messages import shorten
from cellworth.progress import ProgressLine, Steps
from cellworth.table import Table

logger = logging.getLogger("cellworth.campaign")


class Assessment:
    """The part of a campaign that assesses it.

    The model in use, scored points and the last forecast are cached in the store: for the next status, and
    for the next ask, in whatever process.

    Parameters
    ----------
    log : Log
    in_force : BudgetAndPrices
    other : Assessment, optional
        Of the same campaign at another event, to share a cache with.
    """

    def __init__(self, log: Log, in_force: BudgetAndPrices, other: Assessment | None = None) -> None:
        self._log, self._in_force = log, in_force
        self._other = other
        self._own: AssessmentCache | None = None
        self._packed = b""

    @cached_property
    def _rows(self) -> Any:
        """The log of the rows to assess by: all, or a sample if the table is in row blocks."""
        return self._log.founding.assessed(self._log)

    @property
    def table(self) -> Table:
        """The table to assess by, as it is now."""
        table: Table = self._rows.newest().table()
        return table

    @property
    def sample_words(self) -> str:
        """Say of how many rows that is; "" if of all."""
        return getattr(self._rows, "sample_words", "").removeprefix("; ")

    @property
    def cache(self) -> AssessmentCache:
        """What is known already, read from the store when first needed."""
        if self._other is not None:
            return self._other.cache
        if self._own is None:
            self._own = _stored(self._log)
            self._packed = self._own.pack()  # what is not new need not be stored again
        return self._own

    def status(self, judging: Judging, progress: Steps | None) -> Status:
        """Return the status; see `Campaign.status`."""
        totals = totals_of(self._log.newest(), self._in_force.prices, self._in_force.budget, self._log.now())
        found = status_of(self._rows, self._in_force.prices, totals, judging, self.cache, progress)
        self._keep(found.prospect)
        return found

    def forecast(
        self, *, model: Any = "auto", seed: int = 0, n_jobs: int | None = None, progress: bool = False
    ) -> Outlook:
        """Return the forecast of a model; see `Campaign.forecast`."""
        self._log.refresh()
        line: ProgressLine | None = None

        def show(done: int, total: int) -> None:
            nonlocal line
            line = line or ProgressLine("forecasting", total)
            line.show(done)

        found = self._outlook(model, seed, n_jobs, show if progress else None)
        self._keep(found)
        return found

    def _outlook(
        self, model: Any, seed: int, n_jobs: int | None = None, progress: Steps | None = None
    ) -> Outlook:
        """Return the forecast that a status with this model and seed has; DataError if there can be none."""
        state = self._rows.newest()
        if state.table().target is not None and isinstance(model, str):
            model = model_in_use(self._rows, model, seed, self.cache)
        return outlook_ahead(
            state,
            self._rows.prices_of(self._in_force.prices),
            partial(snapshots_of, self._rows),
            model,
            seed=seed,
            cache=self.cache,
            n_jobs=n_jobs,
            progress=progress,
        )

    def gain_since(self, number: int) -> Gain | None:
        """Return how much the score has risen since an event; see `Campaign.gain_since`."""
        return gain_since(self._rows, number, self.cache)

    def advice(self, until: StopRule | None) -> StopAdvice | None:
        """Say whether it is worth spending more; see `Campaign.advice`."""
        state, prices = self._rows.newest(), self._rows.prices_of(self._in_force.prices)
        outlook = self.cache.last_outlook(state.number)
        if outlook is None:
            with suppress(DataError):  # nothing can be forecast
                outlook = self._outlook("auto", 0)
            self._keep(outlook)
        if outlook is None:
            return None
        return decide(outlook.moved(**vars(present(state, prices))), until, left=self._left())

    def _left(self) -> float | None:
        """Return what is left of the budget; None without one."""
        state, budget = self._log.newest(), self._in_force.budget
        return None if budget is None else state.money.left(budget, state.ended(self._log.now()))

    @property
    def has_forecast(self) -> bool:
        """Whether a forecast was made before, here or by whoever has written to the store."""
        return self.cache.last_outlook(self._log.state.number) is not None

    def says_stop(self, until: StopRule | None, key: str | None = None) -> bool:
        """Warn if a rule says stop, and return whether an ask should obey.

        Without a rule the default one is applied, to a forecast already made, and only warns. A request that
        repeats the key of another is to get its cells.
        """
        if key is not None and self._log.keyed(key) is not None:
            return False
        advice = None if until is None and not self.has_forecast else self.advice(until)
        if advice is None or not advice.stop:
            return False
        hint = " Nothing was asked for." if until is not None else " Cells are asked for all the same."
        warnings.warn(advice.sentence + hint, StopWarning, stacklevel=3)
        return until is not None

    def _keep(self, outlook: Outlook | None) -> None:
        """Keep a forecast, and store what was found out if anything is new."""
        self.cache.keep_outlook(outlook, self._log.state.number)
        packed = self.cache.pack()
        if self._log.read_only or packed == self._packed:
            return
        self._packed = packed
        try:
            save_part(self._log.store, self._log.name, self._log.state.number, ASSESSMENT, packed)
        except CellworthError as error:  # such as a store that may only be read
            logger.info("the assessment of campaign %s is not cached: %s", shorten(self._log.name), error)


def _stored(log: Log) -> AssessmentCache:
    """Return the cache in the store; an empty one if there is none that can be used."""
    try:
        blob = load_part(log.store, log.name, log.state.number, ASSESSMENT)
        return AssessmentCache() if blob is None else AssessmentCache.unpack(blob)
    except CellworthError as error:  # whatever is wrong with it, the log has everything
        logger.info("ignoring the assessment of campaign %s: %s", shorten(log.name), error)
        return AssessmentCache()
