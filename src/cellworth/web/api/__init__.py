"""The REST API, under /api/v1."""

from cellworth.web.api import campaigns, management, next_cells, purchases, routing, table_rows

routers = [
    campaigns.router,
    management.router,
    purchases.router,
    purchases.answers,
    table_rows.router,
    next_cells.router,
    routing.router,
]
