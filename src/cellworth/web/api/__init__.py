"""The REST API, under /api/v1."""

from cellworth.web.api import campaigns, purchases, routing, table_rows

routers = [campaigns.router, purchases.router, purchases.answers, table_rows.router, routing.router]
