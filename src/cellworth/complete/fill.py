"""From a table with holes to one without, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cellworth.complete.gaussian import GaussianCompleter
from cellworth.table import Table

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Completion:
    """A completed table and how it came about.

    Attributes
    ----------
    table : Table
        Without holes: a category is one of the categories, a whole number is whole, bounds are kept.
    completer : estimator
        Fitted on the encoded table; its attributes are in the columns of ``Table.encode``.
    variance : (n, p) array or None
        How unsure each cell is, in squared units of the encoded columns, summed over those that belong to
        one cell; 0 where observed. None where the completer has none.
    """

    table: Table
    completer: Any
    variance: Array | None


def fill(table: Table, completer: Any | None = None) -> Completion:
    """Fill the holes of a table, by its columns' kinds and its target.

    Parameters
    ----------
    table : Table
    completer : estimator, optional
        Any completer of this package or of your own; by default ``GaussianCompleter()``. A clone of it is
        fitted. Where it has a parameter ``target`` set to "auto", the table's kind of target is used.

    Returns
    -------
    Completion

    Examples
    --------
    >>> from cellworth import Table, fill
    >>> rows = [[1.0, "low"], [1.1, "low"], [1.2, None], [3.0, "high"], [2.9, "high"], [None, "high"]]
    >>> table = Table.from_arrays(rows, columns=["size", "grade"])
    >>> fill(table).table.to_frame("pandas")["grade"].tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """
    fitted = clone(GaussianCompleter() if completer is None else completer)
    if table.target is not None and fitted.get_params().get("target") == "auto":
        fitted.set_params(target="number" if table.target.kind == "number" else "classes")
    encoded = table.encode()
    fitted.fit(encoded.X, table.y)
    variance = getattr(fitted, "variance_", None)
    return Completion(
        table=table.with_values(encoded.decode(fitted.completed_)),
        completer=fitted,
        variance=None if variance is None else encoded.sum_by_cell(variance),
    )
