"""Choose a completer and its settings on the user's own table, by hiding observed cells."""

from cellworth.complete.auto.candidates import ColumnMeanCompleter, default_candidates
from cellworth.complete.auto.completer import AutoCompleter
from cellworth.complete.auto.progress import SearchProgress
from cellworth.complete.auto.results import CandidateResult

__all__ = ["AutoCompleter", "CandidateResult", "ColumnMeanCompleter", "SearchProgress", "default_candidates"]
