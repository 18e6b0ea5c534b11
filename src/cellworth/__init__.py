"""Which missing cells of a table are worth paying for."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

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
        TreeCompleter,
        fill,
    )
    from cellworth.forecasting import StopRule, forecast
    from cellworth.model import CompletingClassifier, CompletingRegressor
    from cellworth.policy import Policy
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
    "Policy",
    "Prices",
    "Purchase",
    "SoftImputeCompleter",
    "SparseCompleter",
    "StopRule",
    "Strategy",
    "SupervisedCompleter",
    "Table",
    "TreeCompleter",
    "advise",
    "fill",
    "forecast",
    "plot_curves",
    "simulate",
]
__version__ = "0.1.0"

# Names are imported on first use, so that `import cellworth` is fast.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "campaign": ["Campaign"],
        "complete": [
            "AutoCompleter",
            "FilledTable",
            "GaussianCompleter",
            "LMaFitCompleter",
            "NNLSCompleter",
            "OptSpaceCompleter",
            "SoftImputeCompleter",
            "SparseCompleter",
            "SupervisedCompleter",
            "TreeCompleter",
            "fill",
        ],
        "model": ["CompletingClassifier", "CompletingRegressor"],
        "forecasting": ["StopRule", "forecast"],
        "policy": ["Policy"],
        "prices": ["Group", "Prices"],
        "simulation": ["plot_curves", "simulate"],
        "strategy": ["Batch", "Purchase", "Strategy", "advise"],
        "table": ["Table"],
    },
    parts=[
        "blocks",
        "campaign",
        "complete",
        "datasets",
        "model",
        "forecasting",
        "policy",
        "prices",
        "report",
        "score",
        "select",
        "simulation",
        "strategy",
        "table",
        "testing",
        "web",
    ],
)
