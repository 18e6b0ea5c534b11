"""Which missing cells of a table are worth paying for."""

from cellworth.complete import (
    AutoCompleter,
    Completion,
    GaussianCompleter,
    LMaFitCompleter,
    NNLSCompleter,
    OptSpaceCompleter,
    Progress,
    SoftImputeCompleter,
    SupervisedCompleter,
    fill,
)
from cellworth.table import Column, Table, Target

__all__ = [
    "AutoCompleter",
    "Column",
    "Completion",
    "GaussianCompleter",
    "LMaFitCompleter",
    "NNLSCompleter",
    "OptSpaceCompleter",
    "Progress",
    "SoftImputeCompleter",
    "SupervisedCompleter",
    "Table",
    "Target",
    "fill",
]
__version__ = "0.1.0"
