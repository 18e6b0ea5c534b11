"""Rows in blocks: tables that are read, worked on and written block by block, on threads or on Dask."""

from cellworth.blocks.dask_engine import DaskEngine
from cellworth.blocks.protocol import Blocks, Engine
from cellworth.blocks.sources import Part, Source, open_blocks
from cellworth.blocks.threads import ThreadEngine

__all__ = ["Blocks", "DaskEngine", "Engine", "Part", "Source", "ThreadEngine", "open_blocks"]
