"""The REST API, under /api/v1."""

from cellworth.web.api import campaigns, management, next_cells, purchases, routing, table_data

routers = [
    campaigns.router,
    table_data.downloads,
    management.router,
    management.people,
    purchases.router,
    purchases.answers,
    table_data.router,
    next_cells.router,
    routing.router,
]
