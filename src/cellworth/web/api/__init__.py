"""The REST API, under /api/v1."""

from cellworth.web.api import campaigns, management, purchases, routing, table_rows

routers = [
    campaigns.router,
    management.router,
    purchases.router,
    purchases.answers,
    table_rows.router,
    routing.router,
]
