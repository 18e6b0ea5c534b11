"""A campaign as one HTML page."""

from cellworth.report.report import write_report

__all__ = ["write_report"]
