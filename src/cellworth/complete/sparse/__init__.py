"""Tables too wide and too sparse to be written out: only observed cells and two thin factors are kept."""

from cellworth.complete.sparse.sparse_completer import SparseCompleter

__all__ = ["SparseCompleter"]
