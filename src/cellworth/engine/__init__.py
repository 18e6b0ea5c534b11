"""Tables larger than memory, and larger than a machine: row blocks on threads, or on a Dask cluster."""

from cellworth.engine.batch import Batch
from cellworth.engine.outcome import Completed, complete
from cellworth.engine.scoring import BlockScorer, Scores

__all__ = [
    "Batch",
    "BlockScorer",
    "Completed",
    "Scores",
    "complete",
]
