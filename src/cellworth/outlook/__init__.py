"""What more cells would bring, before they are bought, and when to stop."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.outlook.day_zero import forecast
    from cellworth.outlook.forecast_result import CostEstimate, Outlook
    from cellworth.outlook.stop_rule import StopAdvice, StopRule, StopWarning, decide

__all__ = [
    "CostEstimate",
    "Outlook",
    "StopAdvice",
    "StopRule",
    "StopWarning",
    "decide",
    "forecast",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "day_zero": ["forecast"],
        "forecast_result": ["CostEstimate", "Outlook"],
        "stop_rule": ["StopAdvice", "StopRule", "StopWarning", "decide"],
    },
)
