"""Import the names of a package when they are first used.

A package that offers names of heavy modules, such as estimators, imports none of them itself: who only reads
a log need not wait for scikit-learn.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]], parts: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are imported on first use.

    Parameters
    ----------
    package : str
        Its full name.
    homes : dict
        The names, by the module that each comes from, relative to the package. No name may also be that of a
        module in the package: importing the module would hide it.
    parts : sequence of str
        Modules of the package that are imported on first use as well.

    Examples
    --------
    >>> get, names = lazy_names("cellworth.forecasting", {"stop_rule": ["StopRule"]})
    >>> get("StopRule").__name__
    'StopRule'
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name in parts:
            return importlib.import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of, *parts})

    return get, names
