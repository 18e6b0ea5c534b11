"""The paper's tables and figures, run again: one call, one page with the paper's figures beside ours."""

from cellworth.paper.reproduce.reproduce import PARTS, Reproduction, describe, reproduce
from cellworth.paper.reproduce.settings import DATASETS, Schedule, Settings

__all__ = ["DATASETS", "PARTS", "Reproduction", "Schedule", "Settings", "describe", "reproduce"]
