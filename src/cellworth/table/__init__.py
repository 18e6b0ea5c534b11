"""Tables with holes: read from files, frames and arrays, checked, encoded for models and written back.

Data flow: `read_csv` and `excel`, `frames` and `read_arrays` produce columns of `raw_cells`; `build_table`
interprets them with `missing_marks`, `infer_kind` and the user's `keywords`; `table` holds the result, made
of `column` and `target`; `encoded` converts it for models and back; `write_table` writes it out. `any_table`
takes whatever users have, and `frames` returns results in the same form.
"""

from cellworth.table.any_table import AnyTable, as_table
from cellworth.table.column import Column, Kind
from cellworth.table.encoded import ColumnLayout, Encoded
from cellworth.table.table import Table
from cellworth.table.target import Target, TargetKind

__all__ = [
    "AnyTable",
    "Column",
    "ColumnLayout",
    "Encoded",
    "Kind",
    "Table",
    "Target",
    "TargetKind",
    "as_table",
]
