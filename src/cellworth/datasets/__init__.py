"""Public example tables: the paper's six, and Turney's five with real prices.

`load` returns a table and its prices by name; `fetch` gets the paper's files if they are missing.
"""

from cellworth.datasets.fetch_paper import fetch
from cellworth.datasets.tables import load

__all__ = ["fetch", "load"]
