"""Row blocks: read, process and write tables block by block, on threads or on Dask."""

from cellworth.blocks.dask_engine import DaskEngine
from cellworth.blocks.row_source import open_blocks
from cellworth.blocks.thread_engine import ThreadEngine

__all__ = ["DaskEngine", "ThreadEngine", "open_blocks"]
