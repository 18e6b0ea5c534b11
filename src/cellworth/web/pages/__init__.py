"""The pages: forms that work without JavaScript, and scripts for figures, live updates and shortcuts."""

from cellworth.web.pages import (
    answer_queue,
    campaign_list,
    ledger,
    login,
    overview,
    row_advice,
    scripts,
    table_views,
)
from cellworth.web.pages.page_layout import problem_page

routers = [
    each.router
    for each in (campaign_list, login, overview, answer_queue, table_views, ledger, row_advice, scripts)
]

__all__ = ["problem_page", "routers"]
