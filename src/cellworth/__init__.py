"""Which missing cells of a table are worth paying for."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.complete import (
        AutoCompleter,
        FilledTable,
        GaussianCompleter,
        LMaFitCompleter,
        NNLSCompleter,
        OptSpaceCompleter,
        SoftImputeCompleter,
        SparseCompleter,
        SupervisedCompleter,
        fill,
    )
    from cellworth.model import CompletingClassifier, CompletingRegressor
    from cellworth.outlook import StopRule, forecast
    from cellworth.prices import Group, Prices
    from cellworth.simulation import plot_curves, simulate
    from cellworth.strategy import Batch, Purchase, Strategy, advise
    from cellworth.table import Table

__all__ = [
    "AutoCompleter",
    "Batch",
    "Campaign",
    "CompletingClassifier",
    "CompletingRegressor",
    "FilledTable",
    "GaussianCompleter",
    "Group",
    "LMaFitCompleter",
    "NNLSCompleter",
    "OptSpaceCompleter",
    "Prices",
    "Purchase",
    "SoftImputeCompleter",
    "SparseCompleter",
    "StopRule",
    "Strategy",
    "SupervisedCompleter",
    "Table",
    "advise",
    "fill",
    "forecast",
    "plot_curves",
    "simulate",
]
__version__ = "0.1.0"

# Names are imported on first use, so that `import cellworth` is fast.
_HOMES = {
    "cellworth.campaign": ("Campaign",),
    "cellworth.complete": (
        "AutoCompleter",
        "FilledTable",
        "GaussianCompleter",
        "LMaFitCompleter",
        "NNLSCompleter",
        "OptSpaceCompleter",
        "SoftImputeCompleter",
        "SparseCompleter",
        "SupervisedCompleter",
        "fill",
    ),
    "cellworth.model": ("CompletingClassifier", "CompletingRegressor"),
    "cellworth.outlook": ("StopRule", "forecast"),
    "cellworth.prices": ("Group", "Prices"),
    "cellworth.simulation": ("plot_curves", "simulate"),
    "cellworth.strategy": ("Batch", "Purchase", "Strategy", "advise"),
    "cellworth.table": ("Table",),
}
_PARTS = (
    "blocks",
    "campaign",
    "complete",
    "datasets",
    "model",
    "outlook",
    "prices",
    "report",
    "score",
    "select",
    "simulation",
    "strategy",
    "table",
    "testing",
    "web",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"cellworth.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cellworth' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PARTS})
