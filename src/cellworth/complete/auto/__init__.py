"""Choose a completer and its settings on the user's own table, by hiding observed cells."""

from cellworth.complete.auto import AutoCompleter, SearchProgress
from cellworth.complete.auto_candidates import ColumnMeanCompleter, default_candidates
from cellworth.complete.auto_search import CandidateResult

__all__ = ["AutoCompleter", "CandidateResult", "ColumnMeanCompleter", "SearchProgress", "default_candidates"]
