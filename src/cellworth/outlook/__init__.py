"""What more cells would bring, before they are bought, and when to stop."""

from cellworth.outlook.day_zero import forecast
from cellworth.outlook.forecast_result import CostEstimate, Outlook
from cellworth.outlook.stop_rule import StopRule, StopWarning, StopAdvice, decide

__all__ = ["CostEstimate", "Outlook", "StopRule", "StopWarning", "StopAdvice", "decide", "forecast"]
