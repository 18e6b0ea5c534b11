"""From a table with holes to one without, in one call."""

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
    """A filled table, how it was filled, and how far its cells may be off.

    Attributes
    ----------
    table : Table
        Without holes: a category is one of the categories, a whole number is whole, bounds are kept.
    completer : estimator
        Fitted on the encoded table; its attributes are in the columns of ``Table.encode``.
    variance : (n, p) array or None
        How unsure each cell is, in squared units of the encoded columns, summed over those that belong to
        one cell; 0 where observed. None where the completer has none.
    lower, upper : (n, p) arrays or None
        Ends of the interval of each cell, as values of its column, within its bounds; equal where the cell
        is known. NaN in the holes of booleans and categories, which have no interval. None if no level was
        asked for, or the completer has no intervals.
    level : float or None
        The share of hidden cells that should lie within their intervals; None if it was not asked for.
    """

    table: Table
    completer: Any
    variance: FloatArray | None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    level: float | None = None

    def with_interval_columns(self) -> Table:
        """Return the filled table with two more columns after each number, whole number and date; O(n p).

        They are named after their column, with ``_lower`` and ``_upper``, and one more underscore where the
        name is taken. DataError if there are no intervals.
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
            return (
                "the table was filled without intervals; ask for them by a level, as in fill(..., level=0.9)."
            )
        return (
            f"{type(self.completer).__name__}, which filled this table, has no intervals. Leave them out, or "
            "fill with a completer that has them, such as GaussianCompleter (in a campaign: that of the "
            "strategy 'recommended')."
        )


def fill(table: Table, completer: Any | None = None, *, level: float | None = None) -> FilledTable:
    """Fill the holes of a table, by its columns' kinds and its target.

    Parameters
    ----------
    table : Table
    completer : estimator, optional
        Any completer of this package or of your own; by default ``GaussianCompleter()``. A clone of it is
        fitted. Where it has a parameter ``target`` set to "auto", the table's kind of target is used.
    level : float, optional
        Also find intervals, such that this share of hidden cells should lie within; between 0 and 1. A
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
