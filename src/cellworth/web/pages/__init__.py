"""The pages: forms that work without script, and scripts that add figures, live news and shortcuts."""

from cellworth.web.pages.campaigns import router as campaigns_router
from cellworth.web.pages.columns import router as columns_router
from cellworth.web.pages.ledger import router as ledger_router
from cellworth.web.pages.login import router as login_router
from cellworth.web.pages.new import router as new_router
from cellworth.web.pages.overview import router as overview_router
from cellworth.web.pages.plotly import router as plotly_router
from cellworth.web.pages.problem import problem_page
from cellworth.web.pages.queue import router as queue_router
from cellworth.web.pages.row import router as row_router
from cellworth.web.pages.table import router as table_router
from cellworth.web.pages.upload import router as upload_router

routers = [
    campaigns_router,
    new_router,
    login_router,
    overview_router,
    queue_router,
    upload_router,
    table_router,
    row_router,
    columns_router,
    ledger_router,
    plotly_router,
]

__all__ = ["problem_page", "routers"]
