"""The pages: forms that work without JavaScript, and scripts for figures, live updates and shortcuts."""

from cellworth.web.pages import (
    answer_files,
    answer_queue,
    campaign_list,
    ledger,
    manage_campaign,
    new_campaign,
    next_value,
    overview,
    page_layout,
    queue_actions,
    sign_in,
    table_grid,
    table_views,
    token_list,
)
from cellworth.web.pages.page_layout import problem_page

_MODULES = (
    campaign_list,
    sign_in,
    token_list,
    overview,
    answer_queue,
    queue_actions,
    answer_files,
    table_grid,
    table_views,
    next_value,
    ledger,
    manage_campaign,
    new_campaign,
    page_layout,
)
routers = [each.router for each in _MODULES]

__all__ = ["problem_page", "routers"]
