"""The REST API, under /api/v1."""

from cellworth.web.api import (
    campaigns,
    downloads,
    management,
    next_cells,
    people,
    purchases,
    routing,
    table_rows,
)

routers = [
    campaigns.router,
    downloads.router,
    management.router,
    people.router,
    purchases.router,
    purchases.answers,
    table_rows.router,
    next_cells.router,
    routing.router,
]
