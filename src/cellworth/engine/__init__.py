"""Worths and batches over row blocks."""

from cellworth.engine.batch import Batch, select_cells
from cellworth.engine.scoring import BlockScorer, Scores

__all__ = ["Batch", "BlockScorer", "Scores", "select_cells"]
