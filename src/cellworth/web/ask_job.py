"""The job of an ask: choose cells in the worker, and bring back what a rule to stop says."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from cellworth.campaign import Campaign
from cellworth.forecasting import StopWarning
from cellworth.strategy import Batch


class AskResult(NamedTuple):
    """The cells asked for, and the sentence of a `StopWarning`; None if there was none."""

    batch: Batch
    stop: str | None


def ask_and_tell(campaign: Campaign, *limits: Any, **settings: Any) -> AskResult:
    """Return the result of `Campaign.ask` with these arguments; warnings cannot leave the worker."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StopWarning)
        batch = campaign.ask(*limits, **settings)
    said = [str(each.message) for each in caught if issubclass(each.category, StopWarning)]
    return AskResult(batch, said[0] if said else None)
