"""Completers: estimators that fill the holes of a table."""

from cellworth.complete.auto import AutoCompleter
from cellworth.complete.fill import FilledTable, fill
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.lmafit import LMaFitCompleter
from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.optspace import OptSpaceCompleter
from cellworth.complete.soft_impute import SoftImputeCompleter
from cellworth.complete.solver.monitor import Progress
from cellworth.complete.sparse import SparseCompleter
from cellworth.complete.supervised import SupervisedCompleter

__all__ = [
    "AutoCompleter",
    "FilledTable",
    "GaussianCompleter",
    "LMaFitCompleter",
    "NNLSCompleter",
    "OptSpaceCompleter",
    "Progress",
    "SoftImputeCompleter",
    "SparseCompleter",
    "SupervisedCompleter",
    "fill",
]
