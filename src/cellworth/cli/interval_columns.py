"""A filled table with the ends of its intervals as columns of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cellworth.errors import DataError

if TYPE_CHECKING:
    from cellworth.campaign import FilledTable
    from cellworth.table import Table


def with_intervals(filled: FilledTable) -> Table:
    """Return the filled table with two columns behind each number, whole number and date; O(n p).

    They are called after their column, with ``_lower`` and ``_upper``, and an underscore more where the name
    is taken. DataError if the completer has no intervals.
    """
    import numpy as np

    from cellworth.table import Table
    from cellworth.table.building.assemble import Parts
    from cellworth.table.column import BOUNDED

    table = filled.table
    if filled.lower is None or filled.upper is None:
        raise DataError(
            f"{type(filled.completer).__name__}, by which this campaign's strategy fills, has no intervals. "
            "Leave them out, or begin a campaign with the strategy 'recommended'."
        )
    taken = {*table.column_names, table.row_id, None if table.target is None else table.target.name}
    columns, values = [], []
    for place, column in enumerate(table.columns):
        columns.append(column)
        values.append(table.values[:, place])
        if column.kind in BOUNDED:
            for end, cells in (("lower", filled.lower), ("upper", filled.upper)):
                name = f"{column.name}_{end}"
                while name in taken:
                    name += "_"
                taken.add(name)
                columns.append(replace(column, name=name))
                values.append(cells[:, place].astype(np.float64))
    return Table(Parts(tuple(columns), np.column_stack(values), table.row_ids, table.target, table.row_id))
