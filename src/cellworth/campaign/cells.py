"""The cells of a campaign as arrays: what is the matter with each, what it costs, what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.founding import registered
from cellworth.campaign.rounds import Rounds
from cellworth.campaign.state import Status
from cellworth.campaign.view import CampaignView

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CellArrays:
    """The n x p cells of the newest table.

    Attributes
    ----------
    known, bought, refused : (n, p) arrays of bool
        Known without buying, told, and not to be had.
    available : (n, p) array of bool
        Missing and not refused; those that are out now are among them.
    price : (n, p) array
        What each would cost as the only one of a batch.
    worth : (n, p) array
        As the strategy scores it now, bigger is better; 0 where there is nothing to buy.
    """

    known: Mask
    bought: Mask
    refused: Mask
    available: Mask
    price: Array
    worth: Array


def cells_of(campaign: CampaignView) -> CellArrays:
    """Look at all cells of a campaign, or of a replay of it.

    Costs the rounds of the log since the last cache, and one more if the table has changed since. They are
    run apart: the campaign's own next ask is neither changed nor delayed.
    """
    table, state = campaign.table, campaign._log.state
    status = state.status
    available = table.holes & (status != Status.REFUSED)
    worth = np.zeros(table.shape)
    if available.any():
        rounds = Rounds(campaign._log, registered(campaign.strategy), campaign._log.settings["seed"])
        worth = np.where(available, rounds.newest(may_begin=True).scored.scores, 0.0)
    return CellArrays(
        known=status == Status.KNOWN,
        bought=status == Status.TOLD,
        refused=status == Status.REFUSED,
        available=available,
        price=campaign.prices.on(table).marginal(~table.holes),
        worth=worth,
    )
