"""What more cells would bring, before they are bought, and when to stop."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.forecasting.outlook import CostEstimate, Outlook
    from cellworth.forecasting.stop_rule import StopAdvice, StopRule, StopWarning, decide
    from cellworth.forecasting.table_forecast import forecast

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
        "table_forecast": ["forecast"],
        "outlook": ["CostEstimate", "Outlook"],
        "stop_rule": ["StopAdvice", "StopRule", "StopWarning", "decide"],
    },
)
