"""The paper's tables and figures, run again: one call, one page with the paper's figures beside ours."""

from studies.paper.reproduce import PARTS, Reproduction, describe, reproduce
from studies.paper.settings import Schedule, Settings

__all__ = ["PARTS", "Reproduction", "Schedule", "Settings", "describe", "reproduce"]
