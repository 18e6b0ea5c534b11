"""Fitted state as plain data, which can be stored and restored without running any code.

A completer that can be stored has two methods. ``fitted_state()`` returns a dict whose values are NumPy
arrays of a plain type, numbers, strings, booleans, None, and lists and dicts of these.
``restore_fitted(state)``, called on an unfitted clone with the same settings, restores it: fitted
attributes, completions of new rows and warm starts are then those of the original.
`cellworth.testing.check_completer` checks both methods if they exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cellworth.complete.scaling import Scaling

OF_ALL = (
    "completed_",
    "scaling_",
    "n_features_in_",
    "feature_names_in_",
    "measured_columns_",
    "indicator_columns_",
)
"""Fitted attributes that most completers have."""


def can_be_stored(completer: Any) -> bool:
    """Return whether a completer has the two methods."""
    return hasattr(completer, "fitted_state") and hasattr(completer, "restore_fitted")


def state_of(completer: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the fitted attributes that exist, by name, as plain data."""
    check_is_fitted(completer)
    fitted = vars(completer)
    return {name: _to_plain(fitted[name]) for name in (*OF_ALL, *names) if name in fitted}


def restore(completer: Any, state: dict[str, Any], names: Iterable[str]) -> None:
    """Set the fitted attributes that `state_of` returned."""
    for name in (*OF_ALL, *names):
        if name in state:
            setattr(completer, name, _FROM_PLAIN.get(name, _as_it_is)(state[name]))


def _to_plain(value: Any) -> Any:
    if isinstance(value, Scaling):
        return {"offset": value.offset, "width": value.width}
    if isinstance(value, tuple):
        return [_to_plain(each) for each in value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.dtype == object):
        return value.tolist()
    return value


def _as_it_is(value: Any) -> Any:
    return value


def _names(value: list[str]) -> Any:
    return np.array(value, dtype=object)


def _classes(value: Any) -> Any:
    return np.array(value, dtype=object) if isinstance(value, list) else value


def _scaling(value: dict[str, Any]) -> Scaling:
    return Scaling(value["offset"], value["width"])


_FROM_PLAIN: dict[str, Callable[[Any], Any]] = {
    "scaling_": _scaling,
    "feature_names_in_": _names,
    "low_rank_": tuple,
    "classes_": _classes,
}
