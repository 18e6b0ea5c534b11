"""The stage of a campaign: open, closed to all but readers, or archived: closed, and left out of lists."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from cellworth.campaign.campaign_events import Stage, StageChanged
from cellworth.campaign.event_codec import Content, check_optional_text
from cellworth.campaign.state import State
from cellworth.errors import ConflictError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import named

STAGES: tuple[Stage, ...] = get_args(Stage)


class NewStage:
    """A stage to put a campaign into."""

    def __init__(self, stage: Stage, reason: str | None) -> None:
        if stage not in STAGES:
            raise ParameterError(
                f"{named('stage')} must be one of {', '.join(STAGES)}; got {shorten(stage)}."
            )
        self._stage: Stage = stage
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: State, time: datetime) -> StageChanged | None:
        """Return the change; None if there is none."""
        return None if state.stage == self._stage else StageChanged(state.stage, self._stage, self._reason)


def check_open(name: str, state: State, kind: type[Content]) -> None:
    """Raise ConflictError if a campaign is not open, and so takes no event of this kind."""
    if state.stage != "open" and kind is not StageChanged:
        raise ConflictError(
            f"campaign {shorten(name)} is {state.stage}, so nothing was recorded. Open it again first."
        )
