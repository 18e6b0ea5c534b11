"""A model of the target, fitted on a table with holes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete import fill
from cellworth.errors import DataError
from cellworth.table import Table


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
