"""Completion of tables too wide and sparse to store densely: only observed cells and two thin factors."""

from cellworth.complete.sparse.sparse_completer import SparseCompleter

__all__ = ["SparseCompleter"]
