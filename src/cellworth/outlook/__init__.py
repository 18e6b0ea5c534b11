"""What more cells would bring, before they are bought, and when to stop."""

from cellworth.outlook.day_zero import forecast
from cellworth.outlook.forecast_result import CostEstimate, Outlook
from cellworth.outlook.stop_rule import StopAdvice, StopRule, StopWarning, decide

__all__ = ["CostEstimate", "Outlook", "StopAdvice", "StopRule", "StopWarning", "decide", "forecast"]
