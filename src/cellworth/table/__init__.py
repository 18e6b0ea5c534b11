"""Tables with holes: read from files, frames and arrays, checked, encoded for models and written back.

The way of the data: `read_csv`, `read_frames` and `read_arrays` give columns of `raw_cells`; `build` has
`missing_marks` and `infer_kind` find what they mean, with `keywords` from the user; `table` holds the result,
made of `column` and `target`; `encoded` goes to models and back; `write_table` and `write_csv` go out again.
"""

from cellworth.table.column import Column, Kind
from cellworth.table.encoded import ColumnLayout, Encoded
from cellworth.table.table import Table
from cellworth.table.target import Target, TargetKind

__all__ = ["Column", "ColumnLayout", "Encoded", "Kind", "Table", "Target", "TargetKind"]
