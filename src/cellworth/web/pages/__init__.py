"""The pages: forms that work without JavaScript, and scripts for figures, live updates and shortcuts."""

from cellworth.web.pages import (
    answer_files,
    answer_queue,
    campaign_list,
    ledger,
    login,
    manage_campaign,
    new_campaign,
    overview,
    queue_actions,
    row_advice,
    scripts,
    table_grid,
    table_views,
)
from cellworth.web.pages.page_layout import problem_page

_MODULES = (
    campaign_list,
    login,
    overview,
    answer_queue,
    queue_actions,
    answer_files,
    table_grid,
    table_views,
    row_advice,
    ledger,
    row_advice,
    manage_campaign,
    new_campaign,
    scripts,
)
routers = [each.router for each in _MODULES]

__all__ = ["problem_page", "routers"]
