"""Completers: each turns a table with holes into one without."""

from cellworth.complete.solver.apg import Progress
from cellworth.complete.supervised import SupervisedCompleter

__all__ = ["Progress", "SupervisedCompleter"]
