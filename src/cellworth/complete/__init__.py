"""Completers: estimators that fill the holes of a table."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.complete.auto_completer import AutoCompleter
    from cellworth.complete.filled_table import FilledTable, fill
    from cellworth.complete.gaussian import GaussianCompleter
    from cellworth.complete.lmafit import LMaFitCompleter
    from cellworth.complete.nnls import NNLSCompleter
    from cellworth.complete.optspace import OptSpaceCompleter
    from cellworth.complete.soft_impute import SoftImputeCompleter
    from cellworth.complete.solver.monitor import Progress
    from cellworth.complete.sparse import SparseCompleter
    from cellworth.complete.supervised_completer import SupervisedCompleter
    from cellworth.complete.tree_completer import TreeCompleter

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
    "TreeCompleter",
    "fill",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "auto_completer": ["AutoCompleter"],
        "filled_table": ["FilledTable", "fill"],
        "gaussian": ["GaussianCompleter"],
        "lmafit": ["LMaFitCompleter"],
        "nnls": ["NNLSCompleter"],
        "optspace": ["OptSpaceCompleter"],
        "soft_impute": ["SoftImputeCompleter"],
        "solver.monitor": ["Progress"],
        "sparse": ["SparseCompleter"],
        "supervised_completer": ["SupervisedCompleter"],
        "tree_completer": ["TreeCompleter"],
    },
)
