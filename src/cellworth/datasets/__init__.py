"""Public tables to try things on: the six of the paper, and Turney's five with real prices.

`load` gives a table and its prices by name; `fetch` gets the paper's files where they are not there yet.
"""

from cellworth.datasets.fetching import fetch
from cellworth.datasets.tables import load

__all__ = ["fetch", "load"]
