"""Which cell of a new row to measure next, and when to stop."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.policy.next_step import CellGain, NextStep
    from cellworth.policy.policy import Policy

__all__ = ["CellGain", "NextStep", "Policy"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "next_step": ["CellGain", "NextStep"],
        "policy": ["Policy"],
    },
)
