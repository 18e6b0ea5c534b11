"""What the answers amount to: the filled table with its intervals, and a model of the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete import Completion, fill
from cellworth.errors import DataError
from cellworth.table import Encoded, Table
from cellworth.table.column import BOUNDED

Array = NDArray[np.floating]


@dataclass(frozen=True)
class FilledTable(Completion):
    """A filled table, with how far its cells may be off.

    Attributes
    ----------
    table, completer, variance
        As in `cellworth.Completion`.
    lower, upper : (n, p) arrays or None
        Ends of the interval of each cell, as values of its column, within its bounds; equal where the cell
        is known. NaN in the holes of booleans and categories, which have no interval. None where the
        completer has no intervals.
    level : float
        The share of hidden cells that should lie within.
    """

    lower: Array | None
    upper: Array | None
    level: float


def fill_with_intervals(table: Table, completer: Any, level: float) -> FilledTable:
    """Fill a table with a clone of a completer; O(a fit)."""
    done = fill(table, completer)
    lower = upper = None
    if hasattr(done.completer, "predict_interval"):
        encoded = table.encode()
        lower, upper = (_ends(encoded, end) for end in done.completer.predict_interval(level))
    return FilledTable(done.table, done.completer, done.variance, lower, upper, level)


def with_interval_columns(filled: FilledTable) -> Table:
    """Return the filled table with two columns behind each number, whole number and date; O(n p).

    They are called after their column, with ``_lower`` and ``_upper``, and an underscore more where the name
    is taken. DataError if the completer has no intervals.
    """
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
    return Table(columns, np.column_stack(values), table.row_ids, table.target, table.row_id)


def fit_model(table: Table, completer: Any) -> Any:
    """Return a fitted pipeline from encoded rows with holes to the target.

    The completer learns from all rows, the model from those with a label: logistic regression for classes,
    which it names as the user does, ridge regression for a number; columns are standardised first.
    """
    from sklearn.linear_model import LogisticRegression, Ridge  # take a while to import
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    target = table.target
    if target is None:
        raise DataError("a model needs labels; name the target when you make the table of the campaign.")
    labelled = ~np.isnan(target.values)
    y: NDArray[Any] = target.values[labelled]
    if target.classes is not None:
        y = np.array(target.classes)[y.astype(np.intp)]
    fitted = fill(table, completer).completer
    scale = StandardScaler().fit(fitted.completed_)
    model = Ridge() if target.classes is None else LogisticRegression(max_iter=1000)
    model.fit(scale.transform(fitted.completed_[labelled]), y)
    return Pipeline([("complete", fitted), ("scale", scale), ("model", model)])


def _ends(encoded: Encoded, end: Array) -> Array:
    """Return one end of the intervals (n, d) as values of the columns (n, p)."""
    cells = encoded.values.copy()
    for place, column in enumerate(encoded.columns):
        holes = np.isnan(cells[:, place])
        if column.kind not in ("boolean", "category"):
            (block,) = np.flatnonzero(encoded.owner == place)
            cells[holes, place] = column.nearest(end[holes, block].astype(np.float64))
    return cells
