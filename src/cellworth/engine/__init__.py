"""Tables larger than memory, and larger than a machine: row blocks on threads, or on a Dask cluster."""

from cellworth.engine.batch import Batch
from cellworth.engine.cluster import DaskEngine
from cellworth.engine.engine import Engine
from cellworth.engine.local import LocalEngine
from cellworth.engine.opening import open_blocks
from cellworth.engine.outcome import Completed, complete
from cellworth.engine.scoring import BlockScorer, Scores
from cellworth.engine.source import Source

__all__ = [
    "Batch",
    "BlockScorer",
    "Completed",
    "DaskEngine",
    "Engine",
    "LocalEngine",
    "Scores",
    "Source",
    "complete",
    "open_blocks",
]
