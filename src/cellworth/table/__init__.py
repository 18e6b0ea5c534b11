"""Tables with holes: read from files, frames and arrays, checked, encoded for models and written back.

The folder goes with the data: `reading` gives columns of cells, `building` finds what they mean and checks
them, `table` holds the result, `encoding` goes to models and back, `writing` goes out to the user again.
"""

from cellworth.table.column import Column, Kind
from cellworth.table.encoded import Encoded
from cellworth.table.table import Table
from cellworth.table.target import Target, TargetKind

__all__ = ["Column", "Encoded", "Kind", "Table", "Target", "TargetKind"]
