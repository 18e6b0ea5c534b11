"""Reproduces the paper's tables and figures: one call, and one page comparing the paper's with ours."""

from studies.paper.reproduce import PARTS, Reproduction, describe, reproduce
from studies.paper.settings import Schedule, Settings

__all__ = ["PARTS", "Reproduction", "Schedule", "Settings", "describe", "reproduce"]
