"""Fill the holes of a table in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import FloatArray
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.errors import DataError
from cellworth.table import Table
from cellworth.table.column import BOUNDED


@dataclass(frozen=True)
class FilledTable:
    """A filled table, the completer that filled it, and how far off its cells may be.

    Attributes
    ----------
    table : Table
        Without holes. Categories, whole numbers and bounds are respected.
    completer : estimator
        Fitted to the encoded table; its attributes refer to the columns of ``Table.encode``.
    variance : (n, p) array or None
        Uncertainty of each cell, in squared units of the encoded columns, summed over the encoded columns
        of a cell; 0 if observed. None if the completer has no variances.
    lower, upper : (n, p) arrays or None
        Ends of each cell's interval, as values of its column, within its bounds; equal if the cell is
        known. NaN in the holes of booleans and categories, which have no interval. None if no level was
        given, or the completer has no intervals.
    level : float or None
        The fraction of hidden cells that should fall inside their intervals; None if not given.
    """

    table: Table
    completer: Any
    variance: FloatArray | None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    level: float | None = None

    def with_interval_columns(self) -> Table:
        """Return the filled table with two extra columns after each number, whole number and date; O(n p).

        They are named after their column plus ``_lower`` and ``_upper``, with another underscore if the name
        is taken. Raises DataError if there are no intervals.
        """
        if self.lower is None or self.upper is None:
            raise DataError(self._why_no_intervals())
        table = self.table
        taken = {*table.column_names, table.row_id, None if table.target is None else table.target.name}
        columns, values = [], []
        for place, column in enumerate(table.columns):
            columns.append(column)
            values.append(table.values[:, place])
            if column.kind in BOUNDED:
                for end, cells in (("lower", self.lower), ("upper", self.upper)):
                    name = f"{column.name}_{end}"
                    while name in taken:
                        name += "_"
                    taken.add(name)
                    columns.append(replace(column, name=name))
                    values.append(cells[:, place].astype(np.float64))
        return Table(columns, np.column_stack(values), table.row_ids, table.target, table.row_id)

    def _why_no_intervals(self) -> str:
        if hasattr(self.completer, "predict_interval"):
            return "the table was filled without intervals; pass a level to get them: fill(..., level=0.9)."
        return (
            f"{type(self.completer).__name__}, which filled this table, has no intervals. Leave them out, or "
            "fill with a completer that has them, such as GaussianCompleter (in a campaign, use the "
            "strategy 'recommended')."
        )


def fill(table: Table, completer: Any | None = None, *, level: float | None = None) -> FilledTable:
    """Fill the holes of a table, using the kinds of its columns and its target.

    Parameters
    ----------
    table : Table
    completer : estimator, optional
        Any completer, from this package or your own; by default ``GaussianCompleter()``. A clone of it is
        fitted. If its parameter ``target`` is "auto", the table's kind of target is used.
    level : float, optional
        Also compute intervals that should contain this fraction of hidden cells; between 0 and 1. A
        completer without ``predict_interval`` gives none.

    Returns
    -------
    FilledTable

    Examples
    --------
    >>> from cellworth import Table, fill
    >>> rows = [[1.0, "low"], [1.1, "low"], [1.2, None], [3.0, "high"], [2.9, "high"], [None, "high"]]
    >>> table = Table.from_arrays(rows, columns=["size", "grade"])
    >>> fill(table).table.to_frame("pandas")["grade"].tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    >>> fill(table, level=0.9).with_interval_columns().column_names
    ('size', 'size_lower', 'size_upper', 'grade')
    """
    fitted = clone(GaussianCompleter() if completer is None else completer)
    if table.target is not None and fitted.get_params().get("target") == "auto":
        fitted.set_params(target=table.target.label_kind)
    encoded = table.encode()
    fitted.fit(encoded.X, table.y)
    variance = getattr(fitted, "variance_", None)
    lower = upper = None
    if level is not None and hasattr(fitted, "predict_interval"):
        lower, upper = (encoded.decode_ends(end) for end in fitted.predict_interval(level))
    return FilledTable(
        table=table.with_values(encoded.decode(fitted.completed_)),
        completer=fitted,
        variance=None if variance is None else encoded.sum_by_cell(variance),
        lower=lower,
        upper=upper,
        level=level,
    )
