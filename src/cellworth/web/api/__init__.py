"""The same operations for programs: REST under /api/v1."""

from cellworth.web.api import answers, campaigns, columns, events, purchases, rows, schema

routers = [each.router for each in (campaigns, purchases, answers, rows, columns, events, schema)]
