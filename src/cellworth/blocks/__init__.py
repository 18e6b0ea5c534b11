"""Rows in blocks: tables that are read, worked on and written block by block, on threads or on Dask."""

from cellworth.blocks.dask_engine import DaskEngine
from cellworth.blocks.row_source import open_blocks
from cellworth.blocks.threads import ThreadEngine

__all__ = ["DaskEngine", "ThreadEngine", "open_blocks"]
