"""What the pages show of a campaign, as plain data fit for JSON: numbers are finite, or null.

Each function takes a campaign and gives a dict with ``as_of``, the number of the event that it is true of.
They cost completions: they are meant for a process of their own, and know nothing of servers.
"""

from collections.abc import Callable, Mapping
from typing import Any

from cellworth.campaign import Campaign
from cellworth.web.findings.cell_map import cell_map
from cellworth.web.findings.columns import columns
from cellworth.web.findings.front import front
from cellworth.web.findings.look import Look, look_of
from cellworth.web.findings.overview import overview
from cellworth.web.findings.preview import preview
from cellworth.web.findings.row import row_detail

Finding = Callable[[Campaign], dict[str, Any]]

FINDINGS: Mapping[str, Finding] = {
    "overview": overview,
    "cell_map": cell_map,
    "columns": columns,
    "front": front,
}
"""The findings that need nothing but the campaign, in the order in which they are wanted."""

__all__ = [
    "FINDINGS",
    "Finding",
    "Look",
    "cell_map",
    "columns",
    "front",
    "look_of",
    "overview",
    "preview",
    "row_detail",
]
