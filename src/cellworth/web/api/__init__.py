"""The same operations for programs: REST under /api/v1."""

from cellworth.web.api import campaigns, purchases, routing, rows

routers = [campaigns.router, purchases.router, purchases.answers, rows.router, routing.router]
